import { isNanoAgentError, toNanoAgentError } from "../../../core/base/errors.ts";
import { counted } from "../../../core/base/text.ts";
import type { Usage } from "../../../core/message/message.ts";
import { costOf } from "../../../core/model/budget.ts";
import { knownModelInfo } from "../../../providers/model-info.ts";
import { type ImportReport, importSession } from "../../../session/import/import-session.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { SessionCall } from "../command-call.ts";
import { answer, say } from "../command-context.ts";

/**
 * Imports session files and writes one line each. Resolves to 0 when all were imported, to 2 when one is no
 * session file, or was imported before; what is wrong is said on standard error. Throws `journal` when a
 * session cannot be written.
 */
export async function importCommand(call: SessionCall): Promise<number> {
  const { context, store, cwd } = call;
  let code: number = EXIT.done;
  for (const file of call.words) {
    try {
      const report = await importSession(store, file, { cwd, costOf: knownCost, again: call.has("--again") });
      answer(context, call, { json: () => asJson(report), text: () => describe(report) });
    } catch (error) {
      if (!isNanoAgentError(error, "invalid_argument")) throw error;
      say(context, toNanoAgentError(error).message);
      code = EXIT.usage;
    }
  }
  return code;
}

function knownCost(model: string, usage: Usage): number | undefined {
  const slash = model.indexOf("/");
  const price = knownModelInfo(model.slice(0, slash), model.slice(slash + 1))?.price;
  return price && costOf(usage, price);
}

function asJson({ sessionId: session_id, leftOut: left_out, repairs, ...report }: ImportReport): object {
  const { file, program, path, inputs, answers, calls, damaged, unknown } = report;
  const found = { inputs, answers, calls, damaged, left_out, unknown };
  return {
    file,
    program,
    session_id,
    path,
    ...found,
    repairs: {
      unanswered_calls: repairs.unansweredCalls,
      stray_results: repairs.strayResults,
      renamed_calls: repairs.renamedCalls,
      empty_answers: repairs.emptyAnswers,
    },
  };
}

function describe(report: ImportReport): string {
  const { file, program, sessionId, inputs, answers, calls, damaged, leftOut, unknown, repairs } = report;
  const { unansweredCalls: unanswered, strayResults: stray, renamedCalls: renamed } = repairs;
  const lines = [
    `${file} (${program}): ${counted(inputs, "input")}, ${counted(answers, "answer")}, ${counted(calls, "tool call")}`,
    ...damaged.slice(0, 20).map(({ line, reason }) => `  damaged: line ${line}, ${reason}`),
  ];
  if (damaged.length > 20) lines.push(`  damaged: ${counted(damaged.length - 20, "more line")}`);
  for (const [kind, count] of Object.entries(unknown)) lines.push(`  unknown, left out: ${count} × ${kind}`);
  for (const [kind, count] of Object.entries(leftOut)) lines.push(`  left out: ${count} × ${kind}`);
  if (unanswered > 0) lines.push(`  ${counted(unanswered, "call")} had no result; each got one that says so`);
  if (stray > 0)
    lines.push(`  ${counted(stray, "result")} had no call and ${stray === 1 ? "was" : "were"} dropped`);
  if (renamed > 0)
    lines.push(`  ${counted(renamed, "call")} got an id of ${renamed === 1 ? "its" : "their"} own`);
  lines.push(`  go on with nano-agent -p -r ${sessionId} "…"`);
  return lines.map((line) => `${line.startsWith("  ") ? "  " : ""}${terminalLine(line, 400)}\n`).join("");
}
