import { expect, test } from "vitest";
import type { CodingSession } from "../../../coding/session/coding-session.ts";
import { Attention } from "./attention.ts";

type State = CodingSession["view"]["state"];

/**
 * What is written to a terminal of a person who pressed the last key so many milliseconds before each state.
 */
function written(
  states: readonly State[],
  how: { away: number; program?: string; isSilent?: boolean; isPlain?: boolean },
): string {
  let now = 0;
  let text = "";
  let state: State = "idle";
  let tell = (): void => undefined;
  const attention = new Attention({
    terminal: { write: (more) => (text += more), setTitle: (title) => (text += `{${title}}`) },
    environment: how.program === undefined ? {} : { TERM_PROGRAM: how.program },
    cwd: "/work/duration",
    elapsed: () => now,
    isPlain: how.isPlain === true,
  });
  if (how.isSilent === true) attention.silence();
  const session: Pick<CodingSession, "onChange"> & { readonly view: { readonly state: State } } = {
    onChange: (listener) => {
      tell = () => listener({ items: [], rest: true });
      return () => undefined;
    },
    get view() {
      return { state };
    },
  };
  attention.watch(session);
  for (const next of states) {
    attention.keyPressed();
    now += how.away;
    state = next;
    tell();
  }
  return text;
}

test("whoever was away for ten seconds is called for a question and for the end, by a notification where the terminal has them", () => {
  const states = ["running", "waiting", "running", "idle"] as const;
  const titles =
    "{nano-agent - duration}{* nano-agent - duration}{? nano-agent - duration}{* nano-agent - duration}{nano-agent - duration}";
  const [start, run, ask, again, end] = titles.split(/(?<=\})/);
  expect([
    written(states, { away: 10_000 }),
    written(states, { away: 10_000, program: "ghostty" }),
    written(states, { away: 10_000, program: "ghostty", isPlain: true }),
    written(states, { away: 9_999 }),
    written(states, { away: 10_000, isSilent: true }),
  ]).toEqual([
    `${start}${run}${ask}\u0007${again}${end}\u0007`,
    `${start}${run}${ask}\u001B]9;nano-agent asks something\u0007${again}${end}\u001B]9;nano-agent has ended its run\u0007`,
    `${start}${run}${ask}\u0007${again}${end}\u0007`,
    titles,
    titles,
  ]);
});
