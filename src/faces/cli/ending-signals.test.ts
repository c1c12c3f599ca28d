import { expect, onTestFinished, test } from "vitest";
import { SIGNAL_EXITS } from "../../view/exit-code.ts";
import { EndingSignals, untilAborted } from "./ending-signals.ts";

type Listener = (signal: NodeJS.Signals) => void;

const NAMES = Object.keys(SIGNAL_EXITS) as NodeJS.Signals[];

/** Listens, and gives what the process calls for SIGTERM; whatever is left of it goes with the test. */
function startListening(): { readonly signals: EndingSignals; readonly heard: Listener } {
  const before = new Map(NAMES.map((name) => [name, process.listeners(name)]));
  const added = (name: NodeJS.Signals): Listener[] =>
    process.listeners(name).filter((each) => before.get(name)?.includes(each) !== true);
  const signals = new EndingSignals();
  onTestFinished(() => {
    for (const name of NAMES) for (const listener of added(name)) process.off(name, listener);
  });
  const [heard] = added("SIGTERM");
  if (heard === undefined) throw new Error("nobody listens");
  return { signals, heard };
}

test("who hears of no signal stops listening", () => {
  const { signals, heard } = startListening();
  signals[Symbol.dispose]();
  expect(process.listeners("SIGTERM")).not.toContain(heard);
});

test("a program that ends because of a signal is not ended sooner, and without its code, by a further one", () => {
  const { signals, heard } = startListening();
  heard("SIGTERM");
  signals[Symbol.dispose]();
  expect(signals.received).toBe("SIGTERM");
  expect(process.listeners("SIGTERM")).toContain(heard);
});

test("a signal that came before anybody waited for it is not waited for", async () => {
  await expect(untilAborted(AbortSignal.abort())).resolves.toBeUndefined();
  const later = new AbortController();
  const waiting = untilAborted(later.signal);
  later.abort();
  await expect(waiting).resolves.toBeUndefined();
});
