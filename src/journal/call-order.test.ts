import fc from "fast-check";
import { expect, test } from "vitest";
import { CallOrder } from "./call-order.ts";

test("results come out once and in the order of the calls, in whatever order they come in", () => {
  const orders = fc
    .uniqueArray(fc.string(), { maxLength: 8 })
    .chain((ids) =>
      fc.tuple(fc.constant(ids), fc.shuffledSubarray(ids, { minLength: 0, maxLength: ids.length })),
    );
  fc.assert(
    fc.property(orders, ([ids, answered]) => {
      const order = new CallOrder<string>();
      order.begin(ids);
      const made: string[] = [];
      for (const id of answered) {
        made.push(...order.add(id, id));
        const firstOpen = ids.findIndex(
          (each) => !answered.slice(0, answered.indexOf(id) + 1).includes(each),
        );
        expect(made).toEqual(firstOpen === -1 ? ids : ids.slice(0, firstOpen));
      }
      made.push(...order.takeRest());
      expect(made).toEqual(ids.filter((id) => answered.includes(id)));
      expect(ids.some((id) => order.has(id))).toBe(false);
    }),
  );
});
