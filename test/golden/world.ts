import { EventLines } from "../../src/faces/cli/json-lines.ts";
import {
  Agent,
  type AgentEvent,
  type AgentOptions,
  defineTool,
  type Input,
  isNanoAgentError,
  type JournalEntry,
  type JsonSchema,
  MemoryJournal,
  type Model,
  type ModelRequest,
  type RunOptions,
  type RunResult,
  type Tool,
  type ToolDefinition,
} from "../../src/index.ts";
import { encodeRecord } from "../../src/session/record.ts";
import {
  FakeClock,
  ScriptedModel,
  type ScriptedModelOptions,
  type ScriptStep,
} from "../../src/testing/index.ts";

/** A journal that stores an answer later, with the record that follows or with `flush`, as a file does. */
class DelayedJournal extends MemoryJournal {
  override append = ((entry) => {
    const stored = super.append(entry);
    return entry.type === "assistant_message" ? stored : Promise.resolve(stored);
  }) as MemoryJournal["append"];

  flush(): Promise<void> {
    return Promise.resolve();
  }
}

/** What a scenario leaves behind, line by line. */
export interface GoldenRun {
  /** The records of its session files. */
  readonly journal: readonly string[];
  /** Its events in order; those that are records by their type and id alone. */
  readonly events: readonly string[];
  /** The lines of `stream-json`. */
  readonly lines: readonly string[];
  /** The requests to models. */
  readonly requests: readonly string[];
}

/** The parts of a world in which a scenario is played: a clock that stands still, ids that count. */
export class World {
  readonly clock: FakeClock = new FakeClock();
  readonly #journals: MemoryJournal[] = [];
  readonly #events: string[] = [];
  readonly #lines: string[] = [];
  readonly #requests: string[] = [];
  readonly #delayed: boolean;
  #ids = 0;

  /** `delayed`: journals store answers later. */
  constructor(delayed: boolean) {
    this.#delayed = delayed;
  }

  readonly newId = (prefix: string): string => `${prefix}_${String(++this.#ids).padStart(3, "0")}`;

  journal(entries: readonly JournalEntry[] = [], sessionId = "session"): MemoryJournal {
    const kind = this.#delayed ? DelayedJournal : MemoryJournal;
    const journal = new kind({ sessionId, newId: this.newId, now: () => this.clock.now(), entries });
    this.#journals.push(journal);
    return journal;
  }

  /** A scripted model whose requests are kept. */
  model(
    steps: readonly ScriptStep[] | Extract<ScriptStep, (...args: never) => unknown>,
    options: ScriptedModelOptions = {},
  ): Model {
    return this.watched(new ScriptedModel(steps, options));
  }

  watched(model: Model): Model {
    const { provider, id, info } = model;
    return {
      provider,
      id,
      ...(info && { info }),
      stream: (request, options) => {
        this.#requests.push(requestLine(request));
        return model.stream(request, options);
      },
    };
  }

  /** Options of an agent of this world. */
  options(steps: Parameters<World["model"]>[0], options: Partial<AgentOptions> = {}): AgentOptions {
    const { clock, newId } = this;
    return { model: this.model(steps), journal: options.journal ?? this.journal(), clock, newId, ...options };
  }

  agent(steps: Parameters<World["model"]>[0], options: Partial<AgentOptions> = {}): Agent {
    return new Agent(this.options(steps, options));
  }

  /** The first run of a new agent. */
  play(
    steps: Parameters<World["model"]>[0],
    options: Partial<AgentOptions> = {},
  ): Promise<RunResult | undefined> {
    return this.run(this.agent(steps, options), "go");
  }

  /** A run with all that is shown of it. What it throws is kept too. */
  async run(agent: Agent, input?: Input, options: RunOptions = {}): Promise<RunResult | undefined> {
    const lines = new EventLines({ partial: true });
    const onEvent = (event: AgentEvent): void => {
      options.onEvent?.(event);
      this.#events.push(eventLine(event));
      this.#lines.push(...lines.lines(event).map((line) => JSON.stringify(line)));
    };
    try {
      return await agent.run(input, { ...options, onEvent });
    } catch (error) {
      this.note("threw", error);
      return undefined;
    }
  }

  /** Keeps something else that a scenario shows. */
  note(label: string, value: unknown): void {
    this.#events.push(`${label}: ${json(value)}`);
  }

  /** Ids that a part made up by itself, and names of servers at a free port, are numbered. */
  get seen(): GoldenRun {
    const ids = new Map<string, number>();
    const numbered = (line: string): string =>
      line.replaceAll(/(?<=_)[0-9a-z]{22}\b|(?<="made_by":")[0-9a-z]+/g, (id) => {
        if (!ids.has(id)) ids.set(id, ids.size + 1);
        return `${ids.get(id)}`;
      });
    const record = (entry: JournalEntry): string => {
      const same = JSON.parse(numbered(JSON.stringify(entry))) as JournalEntry;
      return Buffer.from(encodeRecord(same).bytes).toString().trimEnd();
    };
    return {
      journal: this.#journals.flatMap((journal) => [...journal.entries()]).map(record),
      events: this.#events.map(numbered),
      lines: this.#lines.map(numbered),
      requests: this.#requests.map(numbered),
    };
  }
}

function eventLine(event: AgentEvent): string {
  if (event.type === "subagent")
    return `${event.agent} ${event.callId} ${event.number ?? ""} > ${eventLine(event.event)}`;
  return "parent" in event ? `#${event.type} ${event.id}` : json(event);
}

function requestLine({ tools, ...request }: ModelRequest): string {
  return json({ ...request, tools: tools?.map(({ name }) => name) });
}

/** The text of a value in which errors are said. */
function json(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (isNanoAgentError(item)) return { error: item.code, message: item.message, details: item.details };
    return item instanceof Error ? { error: item.name, message: item.message } : item;
  });
}

/** A tool that answers with what it was given, unless it is told otherwise. */
export function tool(name: string, extra: Partial<Omit<ToolDefinition<JsonSchema>, "name">> = {}): Tool {
  return defineTool<JsonSchema>({
    name,
    description: `Does ${name}.`,
    parameters: { type: "object" },
    execute: (input: unknown) => `${name} ${JSON.stringify(input)}`,
    ...extra,
  });
}

/** A tool whose calls end in the order of their ids in `order`, however they begin. */
export function inOrder(
  name: string,
  order: readonly string[],
  extra: Parameters<typeof tool>[1] = {},
): Tool {
  const ends = new Map(order.map((id) => [id, Promise.withResolvers<void>()]));
  return tool(name, {
    execute: async (input, { callId }) => {
      const before = order[order.indexOf(callId) - 1];
      if (before !== undefined) await ends.get(before)?.promise;
      setImmediate(() => ends.get(callId)?.resolve());
      return `${name} ${JSON.stringify(input)}`;
    },
    ...extra,
  });
}
