import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { isNanoAgentError, toNanoAgentError } from "../../../core/base/errors.ts";
import { counted } from "../../../core/base/text.ts";
import type { Usage } from "../../../core/message/usage.ts";
import { costOf } from "../../../core/model/cost.ts";
import { knownModelInfo } from "../../../providers/model-info.ts";
import { type ImportReport, importSession } from "../../../session/import/import-session.ts";
import type { SessionStore } from "../../../session/session-store.ts";
import type { CommandContext } from "../command-context.ts";

/**
 * Imports session files and writes one line each. Resolves to 0 when all were imported, to 2 when one is no
 * session file; what is wrong is said on standard error. Throws `journal` when a session cannot be written.
 */
export async function importCommand(
  { stdout, stderr }: CommandContext,
  files: readonly string[],
  { store, cwd, json }: { readonly store: SessionStore; readonly cwd: string; readonly json: boolean },
): Promise<number> {
  let code: number = EXIT.done;
  for (const file of files) {
    try {
      const report = await importSession(store, file, { cwd, costOf: knownCost });
      stdout.write(json ? `${JSON.stringify(asJson(report))}\n` : describe(report));
    } catch (error) {
      if (!isNanoAgentError(error, "invalid_argument")) throw error;
      stderr.write(`nano-agent: ${terminalLine(toNanoAgentError(error).message, 2_000)}\n`);
      code = EXIT.usage;
    }
  }
  return code;
}

function knownCost(model: string, usage: Usage): number | undefined {
  const slash = model.indexOf("/");
  return costOf(usage, knownModelInfo(model.slice(0, slash), model.slice(slash + 1))?.price);
}

function asJson(report: ImportReport): object {
  const { file, program, sessionId, path, inputs, answers, calls, damaged, leftOut, unknown, repairs } =
    report;
  return {
    file,
    program,
    session_id: sessionId,
    path,
    inputs,
    answers,
    calls,
    damaged,
    left_out: leftOut,
    unknown,
    repairs: {
      unanswered_calls: repairs.unansweredCalls,
      stray_results: repairs.strayResults,
      renamed_calls: repairs.renamedCalls,
      empty_answers: repairs.emptyAnswers,
    },
  };
}

function describe({
  file,
  program,
  sessionId,
  inputs,
  answers,
  calls,
  damaged,
  leftOut,
  unknown,
  repairs,
}: ImportReport): string {
  const lines = [
    `${file} (${program}): ${counted(inputs, "input")}, ${counted(answers, "answer")}, ${counted(calls, "tool call")}`,
    ...damaged.slice(0, 20).map(({ line, reason }) => `  damaged: line ${line}, ${reason}`),
    ...(damaged.length > 20 ? [`  damaged: ${counted(damaged.length - 20, "more line")}`] : []),
    ...Object.entries(unknown).map(([kind, count]) => `  unknown, left out: ${count} × ${kind}`),
    ...Object.entries(leftOut).map(([kind, count]) => `  left out: ${count} × ${kind}`),
    ...(repairs.unansweredCalls > 0
      ? [`  ${counted(repairs.unansweredCalls, "call")} had no result; each got one that says so`]
      : []),
    ...(repairs.strayResults > 0
      ? [
          `  ${repairs.strayResults === 1 ? "1 result had no call and was" : `${repairs.strayResults} results had no call and were`} dropped`,
        ]
      : []),
    ...(repairs.renamedCalls > 0
      ? [
          `  ${repairs.renamedCalls === 1 ? "1 call got an id of its" : `${repairs.renamedCalls} calls got an id of their`} own`,
        ]
      : []),
    `  go on with nano-agent -p -r ${sessionId} "…"`,
  ];
  return lines.map((line) => `${line.startsWith("  ") ? "  " : ""}${terminalLine(line, 400)}\n`).join("");
}
