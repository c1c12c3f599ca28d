import type { Json } from "../../core/base/errors.ts";
import { newId } from "../../core/base/ids.ts";
import { parseToolInput, safeParse } from "../../core/base/json.ts";
import type { ToolUseBlock } from "../../core/message/message.ts";
import type { StreamPart } from "../../core/model/model.ts";
import type { ToolCallFragment } from "./chat-json.ts";

/**
 * Assembles tool calls from fragments. By the format, each fragment names its call by `index`, the first has
 * `id` and `name`, the others only `arguments`. Vendors omit any of these, repeat ids and names, number all
 * calls 0, or send whole calls with the arguments as an object; all of these give the same calls.
 */
export class ToolCallCollector {
  readonly #emit: (part: StreamPart) => void;
  readonly #nextIndex: () => number;
  readonly #calls: Call[] = [];
  readonly #byNumber = new Map<string, Call>();
  readonly #ids = new Set<string>();

  /** `nextIndex` returns the position of the answer's next block. */
  constructor(emit: (part: StreamPart) => void, nextIndex: () => number) {
    this.#emit = emit;
    this.#nextIndex = nextIndex;
  }

  get count(): number {
    return this.#calls.filter((call) => call.name !== "").length;
  }

  /** True if the arguments of every call can be parsed. */
  get areComplete(): boolean {
    return this.#calls.every(
      (call) => call.name === "" || parseToolInput(call.json).invalid_input === undefined,
    );
  }

  addFragments(fragments: readonly ToolCallFragment[]): void {
    const taken = new Set<Call>();
    for (const each of fragments) {
      const fragment = asFunction(each);
      const call = this.#callOf(fragment, taken);
      taken.add(call);
      this.#append(call, fragment);
    }
  }

  /** `truncated`: the provider cut the answer short. */
  finish(truncated: boolean): void {
    for (const call of this.#calls) {
      // A call without a name cannot be executed.
      if (call.name === "") continue;
      const block: ToolUseBlock = {
        type: "tool_use",
        id: call.id,
        name: call.name,
        ...parseToolInput(call.json, { truncated }),
        ...(call.extra === undefined
          ? {}
          : { provider_data: { openai_chat: { extra_content: call.extra } } }),
      };
      this.#emit({ type: "block", index: call.index, block });
    }
  }

  #callOf(fragment: ToolCallFragment, taken: ReadonlySet<Call>): Call {
    const { index } = fragment;
    const number = index === undefined || index === null ? undefined : String(index);
    const known = number === undefined ? this.#unnumbered(fragment, taken) : this.#byNumber.get(number);
    if (known !== undefined && !startsNewCall(known, fragment)) return known;
    const call: Call = { index: -1, id: "", wireId: "", name: "", json: "", extra: undefined };
    this.#calls.push(call);
    if (number !== undefined) this.#byNumber.set(number, call);
    return call;
  }

  /** The call that a fragment without a number may continue. Each event has at most one fragment per call. */
  #unnumbered(fragment: ToolCallFragment, taken: ReadonlySet<Call>): Call | undefined {
    const { id } = fragment;
    const isNamed = isNonEmpty(fragment.function?.name);
    const last = this.#calls.at(-1);
    const canBeLast = last !== undefined && !(isNamed && taken.has(last));
    if (!isNonEmpty(id)) return canBeLast ? last : undefined;
    const same = this.#calls.find((call) => call.wireId === id && !taken.has(call));
    return same ?? (canBeLast && last.wireId === "" && !isNamed ? last : undefined);
  }

  #append(call: Call, fragment: ToolCallFragment): void {
    if (call.wireId === "" && isNonEmpty(fragment.id)) call.wireId = fragment.id;
    if (fragment.extra_content !== undefined && fragment.extra_content !== null)
      call.extra = fragment.extra_content;
    const name = fragment.function?.name;
    if (isNonEmpty(name)) call.name = mergedName(call, name);
    const json = argumentText(fragment.function?.arguments);
    if (json === "" || isRepeat(call.json, json)) {
      this.#announce(call, "");
      return;
    }
    call.json += json;
    this.#announce(call, json);
  }

  /** Announces the call once its name is known, then emits its arguments. */
  #announce(call: Call, json: string): void {
    if (call.name === "") return;
    let newJson = json;
    if (call.index === -1) {
      call.index = this.#nextIndex();
      call.id = call.wireId === "" || this.#ids.has(call.wireId) ? newId("call") : call.wireId;
      this.#ids.add(call.id);
      this.#emit({ type: "tool_call_start", index: call.index, id: call.id, name: call.name });
      newJson = call.json;
    }
    if (newJson !== "") this.#emit({ type: "tool_call_delta", index: call.index, json: newJson });
  }
}

/** Treats a call of a plain-text tool as a function call: the model learns that there is no such tool. */
function asFunction(fragment: ToolCallFragment): ToolCallFragment {
  const { custom } = fragment;
  if (custom === undefined || custom === null) return fragment;
  return { ...fragment, function: { name: custom.name ?? null, arguments: custom.input } };
}

interface Call {
  /** Position in the answer; -1 until the call is announced. */
  index: number;
  id: string;
  wireId: string;
  name: string;
  json: string;
  extra: Json | undefined;
}

/** True if a fragment begins another call although its number points to `known`. */
function startsNewCall(known: Call, fragment: ToolCallFragment): boolean {
  const name = fragment.function?.name;
  if (!isNonEmpty(name) || known.name === "") return false;
  if (isNonEmpty(fragment.id) && known.wireId !== "") return fragment.id !== known.wireId;
  const isNumbered = fragment.index !== undefined && fragment.index !== null;
  if (!isNumbered && !name.startsWith(known.name)) return true;
  if (!isCompleteJson(known.json)) return false;
  const json = argumentText(fragment.function?.arguments);
  return name !== known.name || (json.startsWith("{") && !(isNumbered && json === known.json));
}

/** Names arrive whole, repeated in every fragment, or (rarely) in pieces before the arguments. */
function mergedName(call: Call, name: string): string {
  if (call.name === "" || name.startsWith(call.name)) return name;
  return call.json === "" && !call.name.endsWith(name) ? call.name + name : call.name;
}

/** The complete arguments again, with which some servers end a call. */
function isRepeat(json: string, piece: string): boolean {
  return piece.length > 1 && piece === json && isCompleteJson(json);
}

function isCompleteJson(json: string): boolean {
  return json.endsWith("}") && safeParse(json).ok;
}

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function isNonEmpty(value: string | null | undefined): value is string {
  return typeof value === "string" && value !== "";
}
