import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Question, QuestionReply } from "../../view/question.ts";
import { type LinePlace, LineWriter } from "./line-drawer.ts";
import { line } from "./paint/line.ts";
import { QUIET_MS } from "./panels/panel.ts";
import { numberedReply, wholeQuestion } from "./views/question-lines.ts";

export interface TypedInput extends NodeJS.ReadableStream {
  readonly setRawMode?: (isRaw: boolean) => unknown;
}

export interface QuestionPlace extends LinePlace {
  readonly input: TypedInput;
  readonly output: NodeJS.WritableStream;
  /** Quiet milliseconds before a line counts, so that nothing typed before is an answer. Default 200. */
  readonly quietMs?: number;
}

const CTRL_C = "\x03";
const HELP =
  "Number and Enter (for a refusal with a reason: its number, a blank, the reason; Esc stops the run)";

/**
 * A question below what a run has written: a line with the number of an answer answers it, and a reason may
 * follow that of a refusal. Resolves to `undefined` when Ctrl-C is pressed; a terminal that goes away
 * refuses. Rejects with the signal's reason when it aborts, and when the terminal belongs to another job.
 */
export async function askInLines(
  question: Question,
  signal: AbortSignal,
  place: QuestionPlace,
): Promise<QuestionReply | undefined> {
  signal.throwIfAborted();
  if (!isInForeground()) throw new Error("this process runs in the background of its terminal");
  const writer = new LineWriter(place);
  const { input, output } = place;
  const { context } = writer;
  // Before the question can be seen: until then Ctrl-C would end the shell around us too.
  input.setRawMode?.(true);
  try {
    output.write(writer.text([...wholeQuestion(question, context), line(HELP, { role: "muted" })]));
    if ((await quiet(place, signal)) === "interrupted") return undefined;
    return await answered(question, signal, place);
  } finally {
    input.setRawMode?.(false);
  }
}

/** Drops what is typed until nothing has come for a moment. */
function quiet(
  { input, quietMs = QUIET_MS }: QuestionPlace,
  signal: AbortSignal,
): Promise<"quiet" | "interrupted"> {
  return new Promise((resolve, reject) => {
    const end = (done: () => void): void => {
      clearTimeout(timer);
      input.off("data", onData);
      input.off("end", onEnd);
      signal.removeEventListener("abort", onAbort);
      input.pause();
      done();
    };
    const onEnd = (): void => end(() => resolve("quiet"));
    const onAbort = (): void => end(() => reject(signal.reason));
    const onData = (data: Buffer | string): void => {
      clearTimeout(timer);
      if (data.toString().includes(CTRL_C)) return end(() => resolve("interrupted"));
      timer = setTimeout(onEnd, quietMs);
    };
    let timer = setTimeout(onEnd, quietMs);
    input.on("data", onData);
    input.once("end", onEnd);
    signal.addEventListener("abort", onAbort, { once: true });
    input.resume();
  });
}

function answered(
  question: Question,
  signal: AbortSignal,
  { input, output }: QuestionPlace,
): Promise<QuestionReply | undefined> {
  const reader = createInterface({ input, output, terminal: true, prompt: "> ", historySize: 0 });
  const { promise, resolve, reject } = Promise.withResolvers<QuestionReply | undefined>();
  const onAbort = (): void => {
    output.write("\n(not answered: the run ended)\n");
    reject(signal.reason);
  };
  const onKey = (_text: string, key: { readonly name?: string } | undefined): void => {
    if (key?.name === "escape") resolve({ choice: "stop" });
  };
  signal.addEventListener("abort", onAbort, { once: true });
  input.on("keypress", onKey);
  reader.on("SIGINT", () => resolve(undefined));
  reader.on("close", () => resolve({ choice: "no" }));
  reader.on("line", (text) => {
    const reply = numberedReply(question, text);
    if (reply !== undefined) return resolve(reply);
    output.write("(type the number of one of the answers)\n");
    reader.prompt();
  });
  reader.prompt();
  return promise.finally(() => {
    signal.removeEventListener("abort", onAbort);
    input.off("keypress", onKey);
    reader.close();
    output.write("\n");
  });
}

/** A job in the background would be stopped by reading; when in doubt it is in front. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    // No terminal at all has the number -1.
    return group === foreground || foreground === "-1";
  } catch {
    return true;
  }
}
