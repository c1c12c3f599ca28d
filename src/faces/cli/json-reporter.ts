import type { AgentEvent } from "../../core/agent/entries.ts";
import { newUuid } from "../../core/base/ids.ts";
import type { RepairReport } from "../../session/repair-report.ts";
import type { LeftOut } from "../../view/notice.ts";
import type { Outcome } from "../../view/outcome.ts";
import { EventLines } from "./event-lines.ts";
import { lineUsage, type OutputLine } from "./line-content.ts";
import type { Output } from "./standard-output.ts";

/** Options of {@link JsonReporter}. */
export interface JsonReporterOptions {
  readonly stdout: Output;
  /** Asked for each line: a session to go on with is found after the reporter is made. */
  readonly sessionId: () => string;
  /** True: a line for whatever happens (`stream-json`); false: the result alone (`json`). */
  readonly stream: boolean;
  readonly partial: boolean;
}

/** Tells programs what a run does, in the lines of `schema/events.json`. */
export class JsonReporter {
  readonly #options: JsonReporterOptions;
  #events: EventLines;
  #begun = false;

  constructor(options: JsonReporterOptions) {
    this.#options = options;
    this.#events = new EventLines(options);
  }

  /** Before the first event; later calls are ignored. */
  begin(facts: object): void {
    if (!this.#begun) this.#tell({ type: "system", subtype: "init", ...facts });
    this.#begun = true;
  }

  /** Tells what had to be put right to go on with the session kept at `file`. */
  repair({ damaged, droppedResults, interrupted }: RepairReport, file: string): void {
    this.#tell({
      type: "system",
      subtype: "journal_repair",
      file,
      damaged,
      dropped_results: droppedResults,
      interrupted: interrupted.map(({ callId, name, outcome }) => ({ tool_use_id: callId, name, outcome })),
    });
  }

  /** Tells what of the project may not act, for it is not trusted. */
  untrusted(folder: string, leftOut: readonly LeftOut[]): void {
    const left = leftOut.map(({ kind, path, does }) => ({ kind, path, does }));
    this.#tell({ type: "system", subtype: "untrusted", folder, left_out: left });
  }

  event(event: AgentEvent): void {
    if (this.#options.stream) for (const line of this.#events.lines(event)) this.#write(line);
  }

  /** Once for each input: how it ended. */
  end(outcome: Outcome): void {
    this.#write(resultLine(outcome));
    this.#events = new EventLines(this.#options);
  }

  #tell(line: OutputLine): void {
    if (this.#options.stream) this.#write(line);
  }

  /** One LF line. U+2028 and U+2029 are escaped: some readers split lines at them. */
  #write(line: OutputLine): void {
    const text = JSON.stringify({ ...line, session_id: this.#options.sessionId(), uuid: newUuid() });
    const safe = text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
    this.#options.stdout.write(`${safe}\n`);
  }
}

function resultLine({ code, error, output, text, turns, cost, ...outcome }: Outcome): OutputLine {
  const models = outcome.models.map(({ model, usage, costUsd }) => {
    const words = lineUsage(usage);
    const used = {
      inputTokens: words.input_tokens,
      outputTokens: words.output_tokens,
      cacheReadInputTokens: words.cache_read_input_tokens,
      cacheCreationInputTokens: words.cache_creation_input_tokens,
      costUSD: costUsd ?? null,
    };
    return [model, used];
  });
  return {
    type: "result",
    subtype: code,
    is_error: code !== "success",
    result: text,
    duration_ms: Math.round(outcome.durationMs),
    duration_api_ms: outcome.apiDurationMs,
    num_turns: turns,
    total_cost_usd: cost ?? null,
    usage: lineUsage(outcome.usage),
    modelUsage: Object.fromEntries(models),
    permission_denials: outcome.denials.map(({ callId, name, input, reason }) => ({
      tool_name: name,
      tool_use_id: callId,
      tool_input: input,
      reason,
    })),
    evidence: outcome.evidence,
    // An undefined value has no place in JSON.
    structured_output: output,
    error: error && { code: error.code, message: error.message },
  };
}
