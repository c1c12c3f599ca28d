import fc from "fast-check";
import { expect, test } from "vitest";
import { followingWindow, initialWindow, WINDOW_STEP, withEarlier, withLater } from "./conversation.tsx";

const places = fc.nat({ max: 20_000 });

test("a window lies in the list, has the place it was opened for, and is not longer than a step and a half", () => {
  fc.assert(
    fc.property(places, fc.option(places, { nil: undefined }), (length, given) => {
      const place = given === undefined || length === 0 ? undefined : given % length;
      const { from, to } = initialWindow(length, place);
      const end = to ?? length;
      expect(from >= 0 && from <= end && end <= length).toBe(true);
      expect(end - from).toBeLessThanOrEqual(WINDOW_STEP * 1.5);
      if (place !== undefined) expect(place >= from && place < end).toBe(true);
    }),
  );
});

test("asking for more comes to the first and to the newest", () => {
  fc.assert(
    fc.property(places, places, (length, given) => {
      let shown = initialWindow(length, length === 0 ? undefined : given % length);
      for (let at = 0; at * WINDOW_STEP <= length; at++) shown = withLater(withEarlier(shown), length);
      expect(shown).toEqual({ from: 0, to: undefined });
    }),
  );
});

test("who follows a conversation that grows has a bounded part of it before them", () => {
  let shown = initialWindow(0);
  for (let length = 0; length < 5_000; length++) {
    shown = followingWindow(shown, length);
    expect(length - shown.from).toBeLessThanOrEqual(4 * WINDOW_STEP);
  }
});
