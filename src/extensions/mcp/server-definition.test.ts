import { expect, test } from "vitest";
import { parseServer } from "./server-definition.ts";

const parsed = (value: unknown) =>
  parseServer("x", value, { source: "test", variables: { TOKEN: "t", DIR: "/d" } });
const server = (value: unknown) => {
  const result = parsed(value);
  return result.ok ? result.server : result.fault;
};

test("a process is what the file says, with its variables put in", () => {
  expect(
    server({
      command: "${DIR}/run",
      args: ["--x", "${MODE:-fast}"],
      env: { KEY: "${TOKEN}" },
      cwd: "${DIR}",
      timeout: 5,
      alwaysAllow: ["someone else's field"],
    }),
  ).toMatchObject({
    type: "stdio",
    command: "/d/run",
    args: ["--x", "fast"],
    env: { KEY: "t" },
    cwd: "/d",
    timeoutMs: 5,
    enabled: true,
    sampling: false,
  });
});

test.each(["http", "streamable-http", undefined])(
  "an address with the type %s is spoken to over HTTP",
  (type) => {
    expect(
      server({ type, url: "https://x.example/mcp", headers: { authorization: "Bearer ${TOKEN}" } }),
    ).toMatchObject({
      type: "http",
      url: "https://x.example/mcp",
      headers: { authorization: "Bearer t" },
    });
  },
);

test.each(["", " \t"])("a server named %j is refused", (name) => {
  const place = { source: "test", variables: {} };
  expect(parseServer(name, { command: "x" }, place)).toEqual({
    ok: false,
    fault: "has no name; write one in place of the empty text.",
  });
});

test("the name of a configuration does not hold the values of its variables", () => {
  const hash = (value: unknown, variables: { readonly [name: string]: string }): string | undefined => {
    const result = parseServer("x", value, { source: "test", variables });
    return result.ok ? result.server.hash : undefined;
  };
  const value = { command: "run", env: { A: "${A}" } };
  expect(hash(value, { A: "1" })).toBe(hash(value, { A: "2" }));
  expect(hash(value, { A: "1" })).not.toBe(hash({ ...value, command: "other" }, { A: "1" }));
});

test.each<[unknown, RegExp]>([
  [7, /is not an object/],
  [{}, /neither a command nor a url/],
  [{ command: "" }, /"command" that is not the name of a program/],
  [{ command: "x", args: "y" }, /"args" that are not a list of texts/],
  [{ command: "x", env: { A: 1 } }, /"env" that is not an object of texts/],
  [
    { command: "${NOPE}" },
    /needs the variable NOPE in "command", which is not set; set it, or write \$\{NOPE:-default\}/,
  ],
  [{ type: "ws", url: undefined, command: "x" }, /has the type "ws"; write stdio, http or sse/],
  [{ url: "ftp://x" }, /not an http:\/\/ or https:\/\/ address/],
  [{ url: "https://me:secret@x.example" }, /name or password in it/],
  [{ url: "https://x.example", headers: { "a b": "c" } }, /a header "a b" that HTTP does not take/],
  [{ url: "https://x.example", headers: { a: "c\r\nd: e" } }, /a header "a" that HTTP does not take/],
  [{ url: "https://x.example", oauth: { callbackPort: 0 } }, /callbackPort/],
  [{ command: "x", timeout: "5" }, /"timeout" that is not a number of milliseconds/],
])("%j is refused, and the fault says why", (value, message) => {
  expect(server(value)).toMatch(message);
});
