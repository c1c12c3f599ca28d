import type {
  AssistantEntry,
  JournalEntry,
  RunEndEntry,
  RunStartEntry,
  ToolIntentEntry,
} from "../../../core/agent/entry.ts";
import { addSpending, NO_SPENDING, type Spending } from "../../../core/agent/spending.ts";
import { messageText, toolCallsOf } from "../../../core/message/message.ts";

/** One request of a subagent: what it said and the tools it called. */
export interface SubagentTurn {
  readonly text: string;
  readonly tools: readonly string[];
}

/** What a subagent did for the call that started it, as the entries of a session tell it. */
export interface SubagentRun {
  /** Place of its first entry. */
  readonly at: number;
  readonly callId: string;
  readonly agent: string;
  readonly model: string;
  readonly turns: readonly SubagentTurn[];
  readonly toolCalls: number;
  /** Calls that failed, were refused or were stopped. */
  readonly failedCalls: number;
  /** Requests, tokens and cost, those of its own subagents included. */
  readonly used: Spending;
  /** Milliseconds from its first entry to its last. */
  readonly durationMs: number;
  /** Undefined while it is at work, or when it was cut. */
  readonly end: RunEndEntry | undefined;
  /** Subagents it started. */
  readonly subagents: readonly SubagentRun[];
}

/**
 * The subagents that the conversation or the phases of a pattern started, in the order in which they began.
 */
export function subagentRuns(entries: readonly JournalEntry[]): readonly SubagentRun[] {
  let open: OpenRun[] = [];
  const outer: OpenRun[] = [];
  const intents = new Map<string, ToolIntentEntry>();
  entries.forEach((entry, at) => {
    const { scope } = entry;
    if (entry.type === "tool_intent") intents.set(below(scope, `${entry.name}/${entry.callId}`), entry);
    if (scope === undefined) return;
    const parents = open.filter((run) => isWithin(scope, run.scope));
    if (entry.type === "run_start") {
      const run = new OpenRun(entry, { at, scope, intent: intentOf(intents, scope) });
      const parent = parents.at(-1);
      if (parent === undefined) outer.push(run);
      else parent.inner.push(run);
      open.push(run);
    }
    for (const run of parents) run.add(entry);
    if (entry.type === "run_end") open = open.filter((run) => run.scope !== scope);
  });
  return outer.map((run) => run.told());
}

function below(scope: string | undefined, name: string): string {
  return scope === undefined ? name : `${scope}/${name}`;
}

function isWithin(scope: string, outer: string): boolean {
  return scope === outer || scope.startsWith(`${outer}/`);
}

/** The call that started the subagent of a scope: a second one of the same call has a number behind it. */
function intentOf(intents: ReadonlyMap<string, ToolIntentEntry>, scope: string): ToolIntentEntry | undefined {
  return intents.get(scope) ?? intents.get(scope.replace(/\/\d+$/, ""));
}

class OpenRun {
  readonly scope: string;
  readonly inner: OpenRun[] = [];
  readonly #start: RunStartEntry;
  readonly #at: number;
  readonly #intent: ToolIntentEntry | undefined;
  readonly #turns: SubagentTurn[] = [];
  #used = NO_SPENDING;
  #toolCalls = 0;
  #failedCalls = 0;
  #last: number;
  #end: RunEndEntry | undefined;

  constructor(
    start: RunStartEntry,
    place: {
      readonly at: number;
      readonly scope: string;
      readonly intent: ToolIntentEntry | undefined;
    },
  ) {
    this.#start = start;
    this.#at = place.at;
    this.scope = place.scope;
    this.#intent = place.intent;
    this.#last = start.time;
  }

  add(entry: JournalEntry): void {
    this.#last = Math.max(this.#last, entry.time);
    if (entry.type === "assistant_message" || entry.type === "model_usage")
      this.#used = addSpending(this.#used, entry);
    if (entry.scope !== this.scope) return;
    if (entry.type === "assistant_message") this.#turns.push(turnOf(entry));
    else if (entry.type === "run_end") this.#end = entry;
    else if (entry.type === "tool_result") {
      this.#toolCalls++;
      if (entry.status !== "ok") this.#failedCalls++;
    }
  }

  told(): SubagentRun {
    return {
      at: this.#at,
      callId: this.#intent?.callId ?? this.scope,
      agent: this.#start.agent ?? this.#named(),
      model: this.#start.model,
      turns: this.#turns,
      toolCalls: this.#toolCalls,
      failedCalls: this.#failedCalls,
      used: this.#used,
      durationMs: this.#last - this.#start.time,
      end: this.#end,
      subagents: this.inner.map((run) => run.told()),
    };
  }

  /** Sessions of older versions name a subagent in the arguments of the call alone. */
  #named(): string {
    const agent = this.#intent?.input["agent"];
    return typeof agent === "string" ? agent : (this.#intent?.name ?? "subagent");
  }
}

function turnOf({ message }: AssistantEntry): SubagentTurn {
  return { text: messageText(message, "\n"), tools: toolCallsOf(message).map(({ name }) => name) };
}
