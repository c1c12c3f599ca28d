import { chmodSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "../../src/core/base/json.ts";
import type { RunRecord } from "../../src/evaluation/results-folder.ts";
import { calls, type ScriptAnswer, says } from "../../src/testing/script.ts";
import type { RecordedRequest } from "../../src/testing/server-step.ts";
import { tempFolder } from "../temp-folder.ts";
import { type CommandEnd, type RunningCommand, runCommand, serverEnv, startCommand } from "./command.ts";

/** Files of tasks by `task/path`; `check` and `setup` may be executed. */
export function suiteOf(files: Readonly<Record<string, string>>): string {
  const suite = tempFolder(files);
  for (const path of Object.keys(files))
    if (/\/(?:check|setup)$/.test(path)) chmodSync(join(suite, path), 0o755);
  return suite;
}

/** A check that holds when `done.txt` has this text. */
export function wants(text: string): string {
  return `#!/bin/sh\n[ "$(cat done.txt 2>/dev/null)" = "${text}" ] && { echo "it is ${text}"; exit 0; }\necho "done.txt is not ${text}"; exit 1\n`;
}

/** Two tasks, each of which wants a text in a file. */
export function twoTasks(more: Readonly<Record<string, string>> = {}): string {
  return suiteOf({
    "one/task.md": "---\ntitle: First\ntags: [easy]\n---\nWrite one into done.txt.\n",
    "one/check": wants("one"),
    "two/task.md": "---\ntags: hard\n---\nWrite two into done.txt.\n",
    "two/check": wants("two"),
    ...more,
  });
}

/** The words of a request: its model, its first message of a user, and whether a tool has answered. */
export function requestOf({ body }: RecordedRequest): {
  readonly model: string;
  readonly prompt: string;
  readonly isAnswered: boolean;
} {
  const { model, messages } = body as { readonly model: string; readonly messages: readonly unknown[] };
  const of = (role: string): unknown => messages.find((each) => isRecord(each) && each["role"] === role);
  return { model, prompt: JSON.stringify(of("user")), isAnswered: of("tool") !== undefined };
}

/** A model that writes the word its prompt asks for into done.txt, and says so. */
export function obedient(request: RecordedRequest): ScriptAnswer {
  const { prompt, isAnswered } = requestOf(request);
  const content = /Write (\w+) into/.exec(prompt)?.[1] ?? "";
  return isAnswered ? says(`Wrote ${content}.`) : calls("write", { path: "done.txt", content });
}

/** The lines of a results file. */
export function linesIn(folder: string): readonly RunRecord[] {
  return readFileSync(join(folder, "results.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunRecord);
}

/** Sessions kept in a folder of results. */
export function sessionsIn(folder: string): readonly string[] {
  return readdirSync(join(folder, "nano-agent/sessions"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".jsonl"),
  );
}

/** The lines of results, by the names of tasks. */
export function byTask(results: string): readonly RunRecord[] {
  return linesIn(results).toSorted((left, right) => (left.task < right.task ? -1 : 1));
}

const EDITS = ["--permission-mode", "acceptEdits"];

/** A folder for results, and a user to evaluate as. */
export interface EvaluationPlace {
  readonly results: string;
  readonly state: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Scratch folders that are left. */
  readonly left: () => readonly string[];
  readonly run: (suite: string, ...more: readonly string[]) => Promise<CommandEnd>;
  readonly start: (suite: string, ...more: readonly string[]) => RunningCommand;
}

/** Makes such a place, with a server as the model; it goes with the test. */
export function place(server?: Parameters<typeof serverEnv>[0]): EvaluationPlace {
  const [cwd, state, scratch] = [tempFolder(), tempFolder(), tempFolder()];
  const model = server === undefined ? {} : serverEnv(server);
  const env = { ...model, XDG_STATE_HOME: state, TMPDIR: scratch };
  const args = (suite: string, more: readonly string[]): string[] => [
    "eval",
    suite,
    "-o",
    "results",
    ...EDITS,
    ...more,
  ];
  return {
    results: join(cwd, "results"),
    state,
    cwd,
    env,
    left: () => readdirSync(scratch).filter((name) => name.startsWith("nano-agent-eval-")),
    run: (suite, ...more) => runCommand(args(suite, more), { cwd, env }),
    start: (suite, ...more) => startCommand(args(suite, more), { cwd, env }),
  };
}
