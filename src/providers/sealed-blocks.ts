import type { NanoAgentError } from "../core/base/errors.ts";
import { hashText } from "../core/base/text.ts";
import type { AssistantBlock, AssistantMessage, Message, ProviderData } from "../core/message/message.ts";
import type { BlockPart, ModelRequest } from "../core/model/model.ts";

/** The field of `provider_data` that names the maker of a seal: a hash of endpoint, account and model. */
const MAKER = "made_by";

/** Fields of `provider_data` that hold no seal: anybody can read them. */
const OPEN_FIELDS: ReadonlySet<string> = new Set([MAKER, "field", "provider", "emptyText"]);

/**
 * What only its maker can read: signatures, encrypted reasoning, results of its own tools. Each block is
 * marked with its maker, and requests to another endpoint, account or model go without it. Blocks without a
 * mark (of older and imported sessions) are sent until they are refused.
 */
export class SealedBlocks {
  readonly #maker: string;
  readonly #refused = new WeakSet<AssistantBlock>();
  /** The same object each time: encoders keep the text of messages they know. */
  #opened = new WeakMap<Message, Message>();

  /** `maker`: whatever tells endpoint, account and model apart; only a hash of it is kept. */
  constructor(maker: readonly (string | undefined)[]) {
    this.#maker = hashText(JSON.stringify(maker)).toString(36);
  }

  /** A finished block of an answer, with the mark of its maker if it is sealed. */
  marked(part: BlockPart): BlockPart {
    const data = sealsOf(part.block);
    if (data === undefined) return part;
    const entries = Object.entries(data).map(([wire, own]) => [wire, { ...own, [MAKER]: this.#maker }]);
    return { ...part, block: { ...part.block, provider_data: Object.fromEntries(entries) as ProviderData } };
  }

  /** The request without what somebody else has sealed. */
  without(request: ModelRequest): ModelRequest {
    let messages: Message[] | undefined;
    for (const [at, message] of request.messages.entries()) {
      const opened = this.#messageWithout(message);
      if (opened === message) continue;
      messages ??= request.messages.slice();
      messages[at] = opened;
    }
    return messages === undefined ? request : { ...request, messages };
  }

  /** Learns from a failed request. True when `error` is about its seals: the next goes without them. */
  learn(sent: ModelRequest, error: NanoAgentError): boolean {
    if (error.code !== "bad_request" || !SEAL_WORDS.test(error.message)) return false;
    let found = false;
    for (const { role, content } of sent.messages) {
      if (role !== "assistant") continue;
      for (const block of content) {
        if (sealsOf(block) === undefined || this.#refused.has(block)) continue;
        this.#refused.add(block);
        found = true;
      }
    }
    if (found) this.#opened = new WeakMap();
    return found;
  }

  #messageWithout(message: Message): Message {
    if (message.role !== "assistant") return message;
    const known = this.#opened.get(message);
    if (known !== undefined) return known;
    const opened: AssistantMessage = message.content.some((block) => this.#isForeign(block))
      ? {
          ...message,
          content: message.content.map((block) => (this.#isForeign(block) ? open(block) : block)),
        }
      : message;
    this.#opened.set(message, opened);
    return opened;
  }

  #isForeign(block: AssistantBlock): boolean {
    if (this.#refused.has(block)) return true;
    return Object.values(block.provider_data ?? {}).some(
      ({ [MAKER]: maker }) => maker !== undefined && maker !== this.#maker,
    );
  }
}

/** The data of a block that holds a seal; `undefined` where it has none. */
function sealsOf(block: AssistantBlock): ProviderData | undefined {
  const { provider_data: data } = block;
  if (block.type === "thinking" && (block.signature !== undefined || block.redacted !== undefined))
    return data ?? { anthropic: {} };
  const isSealed = Object.values(data ?? {}).some((own) =>
    Object.keys(own).some((field) => !OPEN_FIELDS.has(field)),
  );
  return isSealed ? data : undefined;
}

/** The part of a block that anybody can read. */
function open({ provider_data: data, ...block }: AssistantBlock): AssistantBlock {
  const field = data?.["openai_chat"]?.["field"];
  const rest = field === undefined ? {} : { provider_data: { openai_chat: { field } } };
  if (block.type !== "thinking") return { ...block, ...rest };
  return { type: "thinking", thinking: block.thinking, ...rest };
}

/** The vendors' words for a seal that they cannot read, or that is not theirs. */
const SEAL_WORDS: RegExp = new RegExp(
  [
    "signature",
    "(?:redacted_)?thinking`? block",
    "encrypted[ _]content",
    "reasoning item",
    "of type 'reasoning'",
    "\\brs_\\w+",
  ].join("|"),
  "i",
);
