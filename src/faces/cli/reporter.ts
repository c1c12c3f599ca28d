import type { LeftOut } from "../../app/coding-session/notice.ts";
import type { ModelSpending, Outcome } from "../../app/coding-session/outcome.ts";
import { terminalText } from "../../app/safe-text.ts";
import type { AgentEvent } from "../../core/agent/event.ts";
import type { Json } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import type { RepairReport } from "../../session/repair-report.ts";
import type { InitLine, NewLine, ResultLine } from "./event-line.ts";
import { EventLines } from "./event-lines.ts";
import { lineUsage } from "./line-content.ts";
import type { Output } from "./output.ts";
import type { OutputFormat } from "./run-flags.ts";

/** What the first line says. */
export type InitFacts = Pick<
  InitLine,
  | "cwd"
  | "tools"
  | "model"
  | "model_source"
  | "permissionMode"
  | "sandbox"
  | "skills"
  | "agents"
  | "slash_commands"
  | "mcp_servers"
>;

/** Tells the outside what a run does, in one of the output formats. */
export interface Reporter {
  /** Once, before the first event. Later calls are ignored. */
  readonly begin: (facts: InitFacts) => void;
  /** What had to be put right to go on with the session kept at `path`. */
  readonly repair: (repairs: RepairReport, path: string) => void;
  /** What of the project may not act, for it is not trusted. */
  readonly untrusted: (folder: string, leftOut: readonly LeftOut[]) => void;
  readonly event: (event: AgentEvent) => void;
  /** Once for each input: how it ended. */
  readonly end: (outcome: Outcome) => void;
}

/** What a {@link Reporter} writes to. */
export interface ReporterOptions {
  readonly format: OutputFormat;
  readonly stdout: Output;
  /** Asked for each line: a session to go on with is found after the reporter is made. */
  readonly sessionId: () => string;
  readonly partial: boolean;
  /** True when the answer is shown while it is written (text on a terminal). */
  readonly live: boolean;
}

/** The reporter of an output format. */
export function createReporter(options: ReporterOptions): Reporter {
  switch (options.format) {
    case "text":
      return textReporter(options);
    case "json":
      return jsonReporter(options);
    case "stream-json":
      return new LineReporter(options);
  }
}

function textReporter({ stdout, live }: ReporterOptions): Reporter {
  return {
    begin: () => undefined,
    repair: () => undefined,
    untrusted: () => undefined,
    event: () => undefined,
    end: (outcome) => {
      if (live || outcome.text === "") return;
      const text = stdout.isTerminal ? terminalText(outcome.text) : outcome.text;
      stdout.write(text.endsWith("\n") ? text : `${text}\n`);
    },
  };
}

function jsonReporter({ stdout, sessionId }: ReporterOptions): Reporter {
  return {
    begin: () => undefined,
    repair: () => undefined,
    untrusted: () => undefined,
    event: () => undefined,
    end: (outcome) => stdout.write(serialise(resultLine(outcome), sessionId())),
  };
}

class LineReporter implements Reporter {
  readonly #options: ReporterOptions;
  #lines: EventLines;
  #begun = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#lines = new EventLines(options);
  }

  readonly begin = (facts: InitFacts): void => {
    if (this.#begun) return;
    this.#begun = true;
    this.#write({
      type: "system",
      subtype: "init",
      ...facts,
    });
  };

  readonly repair = ({ damaged, droppedResults, interrupted }: RepairReport, path: string): void => {
    this.#write({
      type: "system",
      subtype: "journal_repair",
      file: path,
      damaged,
      dropped_results: droppedResults,
      interrupted: interrupted.map(({ callId, name, outcome }) => ({ tool_use_id: callId, name, outcome })),
    });
  };

  readonly untrusted = (folder: string, leftOut: readonly LeftOut[]): void => {
    this.#write({
      type: "system",
      subtype: "untrusted",
      folder,
      left_out: leftOut.map(({ kind, path, does }) => ({ kind, path, does })),
    });
  };

  readonly event = (event: AgentEvent): void => {
    for (const line of this.#lines.lines(event)) this.#write(line);
  };

  readonly end = (outcome: Outcome): void => {
    this.#write(resultLine(outcome));
    this.#lines = new EventLines(this.#options);
  };

  #write(line: NewLine): void {
    this.#options.stdout.write(serialise(line, this.#options.sessionId()));
  }
}

/** One LF line. U+2028 and U+2029 are escaped: some readers split lines at them. */
function serialise(line: NewLine, sessionId: string): string {
  const text = JSON.stringify({ ...line, session_id: sessionId, uuid: newUuid() });
  return `${text.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;
}

function resultLine(outcome: Outcome): Omit<ResultLine, "uuid" | "session_id"> {
  const { code, error, output } = outcome;
  return {
    type: "result",
    subtype: code,
    is_error: code !== "success",
    result: outcome.text,
    duration_ms: Math.round(outcome.durationMs),
    duration_api_ms: outcome.apiDurationMs,
    num_turns: outcome.turns,
    total_cost_usd: outcome.cost ?? null,
    usage: lineUsage(outcome.usage),
    modelUsage: Object.fromEntries(outcome.models.map((each) => [each.model, modelWords(each)])),
    permission_denials: outcome.denials.map(({ callId, name, input, reason }) => ({
      tool_name: name,
      tool_use_id: callId,
      tool_input: input,
      reason,
    })),
    ...(output === undefined ? {} : { structured_output: output as Json }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
}

function modelWords({ usage, costUsd }: ModelSpending): ResultLine["modelUsage"][string] {
  const words = lineUsage(usage);
  return {
    inputTokens: words.input_tokens,
    outputTokens: words.output_tokens,
    cacheReadInputTokens: words.cache_read_input_tokens,
    cacheCreationInputTokens: words.cache_creation_input_tokens,
    costUSD: costUsd ?? null,
  };
}
