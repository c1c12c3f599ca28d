import { expect, test } from "vitest";
import { NETWORK_DEFAULTS, networkSettings } from "./network.ts";

test.each(["http://127.0.0.1:8080/v1", "http://localhost:1234/v1", "http://[::1]:8000", "http://127.9.9.9"])(
  "a server at %s may read its prompt for half an hour, before and after the head of its answer",
  (baseUrl) => {
    expect(networkSettings({}, baseUrl)).toEqual({
      ...NETWORK_DEFAULTS,
      headerTimeoutMs: 1_800_000,
      firstEventTimeoutMs: 1_800_000,
    });
  },
);

test.each(["https://api.example.com/v1", "http://192.168.0.7:8080/v1", "http://127.0.0.1.example.com", ""])(
  "a server at %j has the documented limits",
  (baseUrl) => {
    expect(networkSettings({}, baseUrl)).toEqual(NETWORK_DEFAULTS);
  },
);

test("what is given holds everywhere, and the head on loopback follows the first event", () => {
  const near = "http://localhost:8080/v1";
  expect(networkSettings({ headerTimeoutMs: 5 }, near)).toMatchObject({
    headerTimeoutMs: 5,
    firstEventTimeoutMs: 1_800_000,
  });
  expect(networkSettings({ firstEventTimeoutMs: 7 }, near)).toMatchObject({
    headerTimeoutMs: 7,
    firstEventTimeoutMs: 7,
  });
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])(
  "%d is refused with the name of the setting",
  (value) => {
    expect(() => networkSettings({ firstEventTimeoutMs: value })).toThrow(
      `network.firstEventTimeoutMs is ${value}. It must be a number from 0.`,
    );
  },
);
