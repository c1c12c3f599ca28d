import { defined } from "../../core/base/json.ts";
import type { CompiledSchema, SchemaResult } from "../../core/base/schema.ts";
import { toolCallsOf } from "../../core/message/message.ts";
import { defineTool, type Tool, type ToolContext } from "../../core/tool/tool.ts";
import { checkedInput, type RecordedCall, type RecordedRun } from "./recorded-run.ts";
import type { RunFacts } from "./run-facts.ts";

interface StandInOptions {
  readonly run: RecordedRun;
  readonly facts: RunFacts;
  readonly externalTools: ReadonlySet<string>;
  readonly tools: readonly Tool[];
  /** True for a tool that was run again after it was cut. */
  readonly isIdempotent: (name: string) => boolean;
  /** True where calls run: those that conflict must not overlap. */
  readonly keepsOrder: boolean;
  readonly answer: (call: RecordedCall, context: ToolContext) => Promise<unknown>;
}

/** The tools of a recorded run, in their order: they take what was recorded, and give what `answer` gives. */
export function standInTools(options: StandInOptions): readonly Tool[] {
  const { run, facts, tools } = options;
  // Tools of a pattern's own phases are made by the pattern.
  const started = [...run.calls.values()]
    .filter(({ intent }) => intent !== undefined && intent.scope === undefined)
    .map(({ name }) => name);
  const ended = facts.finishTool === undefined ? [] : [facts.finishTool];
  // A run may have got tools after its start; the one that ends it stays the last.
  const names = new Set([
    ...run.start.tools.filter((name) => name !== facts.finishTool),
    ...started,
    ...ended,
  ]);
  const inputs = recordedInputs(run);
  return [...names].map((name) =>
    standIn(name, { ...options, inputs, known: tools.find((tool) => tool.name === name) }),
  );
}

interface StandInFacts extends StandInOptions {
  /** Calls by the very object that holds their arguments. */
  readonly inputs: ReadonlyMap<object, RecordedCall>;
  readonly known: Tool | undefined;
}

function standIn(name: string, facts: StandInFacts): Tool {
  const { known, run, answer } = facts;
  const base = defineTool({
    name,
    description: `Stands in for ${name}.`,
    idempotent: facts.isIdempotent(name),
    parameters: { type: "object" },
    execute: async (_input, context) => {
      const call = run.calls.get(context.callId);
      if (call === undefined) return { content: "This call is not in the record.", isError: true };
      return answer(call, context);
    },
  });
  const { execute, ...own } = base;
  const access = facts.keepsOrder ? known?.access : undefined;
  const rest = { ...own, ...defined({ access }) };
  const schema = standInSchema(name, facts, known?.schema);
  if (facts.externalTools.has(name)) return { ...rest, schema };
  return { ...rest, schema, ...defined({ execute }) };
}

function standInSchema(
  name: string,
  { inputs }: StandInFacts,
  known: CompiledSchema | undefined,
): CompiledSchema {
  return {
    jsonSchema: known?.jsonSchema ?? { type: "object" },
    validate: async (input): Promise<SchemaResult> => {
      if (known !== undefined) return known.validate(input);
      const call = typeof input === "object" && input !== null ? inputs.get(input) : undefined;
      if (call === undefined) return { ok: true, value: input };
      return recordedCheck(name, call, input);
    },
  };
}

/** How the check of the arguments went by the record, for a tool whose schema nobody has. */
function recordedCheck(name: string, call: RecordedCall, input: unknown): SchemaResult {
  const checked = checkedInput(call);
  if (checked !== undefined) return { ok: true, value: checked };
  const { result } = call;
  const content = result?.result.content;
  const text = typeof content === "string" ? content : "";
  const invalid = `Error: Invalid arguments for ${name}, so it was not run:\n`;
  const unchecked = `Error: The arguments of ${name} could not be checked: `;
  if (text.startsWith(invalid))
    return { ok: false, issues: [{ path: "", message: text.slice(invalid.length) }] };
  if (text.startsWith(unchecked)) throw new Error(text.slice(unchecked.length));
  return { ok: true, value: input };
}

function recordedInputs(run: RecordedRun): ReadonlyMap<object, RecordedCall> {
  const inputs = new Map<object, RecordedCall>();
  for (const { message } of run.answers) {
    for (const { id, name, input } of toolCallsOf(message)) {
      const call = run.calls.get(id);
      if (call?.name === name) inputs.set(input, call);
    }
  }
  return inputs;
}
