import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { doneOutcome, RunTally } from "../../view/outcome.ts";
import { StreamOutput } from "./command-context.ts";
import { RunReporter } from "./headless.ts";
import { readFlags, readRunFlags } from "./run-flags.ts";

/** The standard output of a run that ended with this answer and showed nothing of it before. */
async function toldAnswer(args: readonly string[], isTerminal: boolean): Promise<string> {
  let told = "";
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      told += chunk.toString();
      done();
    },
  });
  const stdout = new StreamOutput(() => stream, isTerminal);
  const stderr = new StreamOutput(() => new Writable({ write: (_c, _e, done) => done() }), isTerminal);
  const context = { environment: { NO_COLOR: "1", LANG: "C.UTF-8" }, stdout, stderr };
  const flags = readRunFlags(readFlags(["-p", ...args, "go"]));
  const teller = new RunReporter(context, flags, () => undefined, "new");
  await teller.prepare();
  const facts = {
    ...new RunTally().facts,
    durationMs: 1,
    signal: undefined,
    wantsOutput: false,
    goOn: undefined,
  };
  teller.end({ ...doneOutcome(facts), text: "# Title\n\nSome **bold** `code`." });
  await stdout.drain();
  return told;
}

test.each(["plan", "reflection"])("the answer of --pattern %s is dressed for a person", async (pattern) => {
  expect(await toldAnswer(["--pattern", pattern], true)).toBe(
    "\u001B[1mTitle\u001B[m\n\nSome \u001B[1mbold\u001B[m code.\n",
  );
});

test.each([
  ["a pipe", ["--pattern", "plan"], false],
  ["a value", ["--pattern", "plan", "--json-schema", "{}"], true],
])("it is as it was written in %s", async (_what, args, isTerminal) => {
  expect(await toldAnswer(args, isTerminal)).toBe("# Title\n\nSome **bold** `code`.\n");
});
