import fc from "fast-check";
import { expect, test } from "vitest";
import { hrefOf, parseRoute, type Route, SESSION_VIEWS } from "./route.ts";

const routes = fc.oneof<fc.Arbitrary<Route>[]>(
  fc.constantFrom<Route>({ type: "sessions" }, { type: "sessions", cwd: "/a b/c" }, { type: "stats" }),
  fc.record(
    {
      type: fc.constant("session" as const),
      id: fc.string({ minLength: 1, unit: "grapheme" }),
      view: fc.constantFrom(...SESSION_VIEWS),
      entry: fc.string({ minLength: 1, unit: "grapheme" }),
    },
    { requiredKeys: ["type", "id", "view"] },
  ),
);

test("every place has an address that leads back to it", () => {
  fc.assert(
    fc.property(routes, (route) => {
      expect(parseRoute(hrefOf(route))).toEqual(route);
    }),
  );
});

test.each([
  "",
  "#",
  "#/",
  "#/nowhere",
  "#/sessions",
  "#/sessions/a/nowhere",
  "#/sessions/%E0%A4%A",
  "#token=x",
])("%j names no place and leads to the list of sessions", (fragment) => {
  expect(parseRoute(fragment)).toEqual({ type: "sessions" });
});
