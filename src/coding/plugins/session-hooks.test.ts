import { expect, test } from "vitest";
import { EventHooks } from "../../extensions/command-hooks/event-hooks.ts";
import type { HookInput } from "../../extensions/command-hooks/read-hooks.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { SessionHooks } from "./session-hooks.ts";

/** Hooks that note every notification they are told, those of a matcher alone where there is one. */
function notified(matcher?: string) {
  const told: HookInput[] = [];
  const clock = new FakeClock();
  const handler = {
    event: "Notification",
    source: "test",
    run: (input: HookInput) => void told.push(input),
    onFailure: () => undefined,
    ...(matcher === undefined ? {} : { matcher }),
  } as const;
  const commonInput = () => ({ session_id: "s", transcript_path: "", cwd: "/", permission_mode: "default" });
  const hooks = new EventHooks({
    commands: [],
    handlers: [handler],
    surroundings: () => ({ cwd: "/", env: {} }),
    commonInput,
  });
  const session = new SessionHooks({ hooks, cwd: "/", mode: "default", onNotice: () => undefined, clock });
  return { session, clock, types: () => told.map((input) => input["notification_type"]) };
}

test("a person who does not go on for a minute is told once, and one who does is not", async () => {
  const { session, clock, types } = notified();
  session.startIdleReminder();
  await clock.advance(59_999);
  session.setRunSignal(new AbortController().signal);
  await clock.advance(60_000);
  const before = types();
  session.startIdleReminder();
  await clock.advance(60_000);
  await clock.advance(600_000);
  await session.end();
  expect([before, types(), clock.sleeping]).toEqual([[], ["idle_prompt"], 0]);
});

test("the end of a session ends the wait for the person", async () => {
  const { session, clock, types } = notified();
  session.startIdleReminder();
  await session.end();
  await clock.advance(60_000);
  expect([types(), clock.sleeping]).toEqual([[], 0]);
});

test("a matcher of notifications looks at their type", async () => {
  const { session, types } = notified("permission_prompt|elicitation_dialog");
  await session.notify("permission_prompt", "bash needs your permission");
  await session.notify("elicitation_dialog", "s asks: Which?");
  await session.notify("idle_prompt", "waiting");
  expect(types()).toEqual(["permission_prompt", "elicitation_dialog"]);
});
