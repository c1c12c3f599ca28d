import type { NanoAgentError } from "../core/base/errors.ts";
import { hashText } from "../core/base/text.ts";
import type {
  AssistantBlock,
  ContentBlock,
  ImageBlock,
  Message,
  ProviderData,
  TextBlock,
} from "../core/message/message.ts";
import type { BlockPart, ModelRequest, ToolSpec } from "../core/model/model.ts";

/**
 * Remembers content that a model refuses: images, tools whose schema it rejects, and seals of another maker
 * (signatures, encrypted reasoning, results of its own tools). Each would fail every later request of the
 * conversation, so requests continue without it. Sealed blocks are marked with their maker and left out of
 * requests to another endpoint, account or model; unmarked blocks (of older and imported sessions) are sent
 * until they are refused.
 */
export class Refusals {
  readonly #maker: string;
  readonly #hasNoImageInput: boolean;
  readonly #refused = new WeakSet<ImageBlock | AssistantBlock | ToolSpec>();
  /** Keeps object identity: encoders cache the text of messages and tools they know. */
  #messages = new WeakMap<Message, Message>();
  #toolLists = new WeakMap<readonly ToolSpec[], readonly ToolSpec[]>();

  /** `maker`: values that identify endpoint, account and model; only their hash is kept. */
  constructor(maker: readonly (string | undefined)[], takesNoImages: boolean) {
    this.#maker = hashText(JSON.stringify(maker)).toString(36);
    this.#hasNoImageInput = takesNoImages;
  }

  withMaker(part: BlockPart): BlockPart {
    const data = sealsOf(part.block);
    if (data === undefined) return part;
    const entries = Object.entries(data).map(([wire, own]) => [wire, { ...own, [MAKER]: this.#maker }]);
    return { ...part, block: { ...part.block, provider_data: Object.fromEntries(entries) as ProviderData } };
  }

  withoutRefused(request: ModelRequest): ModelRequest {
    let messages: Message[] | undefined;
    for (const [at, message] of request.messages.entries()) {
      const rest = this.#messageWithout(message);
      if (rest === message) continue;
      messages ??= request.messages.slice();
      messages[at] = rest;
    }
    return this.#withoutTools(messages === undefined ? request : { ...request, messages });
  }

  /** Learns from a failed request what to leave out, and describes it; `undefined`: nothing to learn. */
  learn(sent: ModelRequest, error: NanoAgentError): string | undefined {
    const images = refusedImages(sent, error);
    if (images.length > 0) return this.#refuse(images, "The request continues without the image.");
    const tool = refusedTool(sent, error);
    if (tool !== undefined)
      return this.#refuse([tool], `The request continues without the tool ${tool.name}.`);
    const seals = refusedSeals(sent, error);
    if (seals.length === 0) return undefined;
    return this.#refuse(seals, "The request continues without the reasoning that this model cannot verify.");
  }

  #refuse(refused: readonly (ImageBlock | AssistantBlock | ToolSpec)[], change: string): string {
    for (const each of refused) this.#refused.add(each);
    this.#messages = new WeakMap();
    this.#toolLists = new WeakMap();
    return change;
  }

  #withoutTools(request: ModelRequest): ModelRequest {
    const { tools } = request;
    if (tools === undefined) return request;
    const kept = this.#toolLists.get(tools) ?? tools.filter((tool) => !this.#refused.has(tool));
    this.#toolLists.set(tools, kept);
    if (kept.length === tools.length) return request;
    if (kept.length > 0) return { ...request, tools: kept };
    const { tools: _tools, toolChoice: _choice, ...rest } = request;
    return rest;
  }

  #messageWithout(message: Message): Message {
    const known = this.#messages.get(message);
    if (known !== undefined) return known;
    const isUnchanged =
      message.role === "user"
        ? !imagesIn(message).some((image) => this.#isOmitted(image))
        : !message.content.some((block) => this.#isForeign(block));
    const rest = isUnchanged
      ? message
      : ({ ...message, content: this.#blocksWithout(message.content) } as Message);
    this.#messages.set(message, rest);
    return rest;
  }

  #blocksWithout(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
    return blocks.map((block) => {
      if (block.type === "image") return this.#isOmitted(block) ? NOTE : block;
      if (block.type !== "tool_result") return this.#isForeign(block) ? withoutSeals(block) : block;
      if (typeof block.content === "string") return block;
      return { ...block, content: this.#blocksWithout(block.content) as typeof block.content };
    });
  }

  #isOmitted(image: ImageBlock): boolean {
    return this.#hasNoImageInput || this.#refused.has(image);
  }

  #isForeign(block: AssistantBlock): boolean {
    if (this.#refused.has(block)) return true;
    return Object.values(block.provider_data ?? {}).some(
      ({ [MAKER]: maker }) => maker !== undefined && maker !== this.#maker,
    );
  }
}

const NOTE: TextBlock = { type: "text", text: "[An image was left out here: this model does not take it.]" };

/** Vendors have no code for this. Their messages name the image, the content, or the missing ability. */
const IMAGE_WORDS =
  /\bimages?\b|image_url|input_image|\bvision\b|multi-?modal|modalit|mmproj|content must be a string|unknown variant/i;

/** The images an error is about: those after the model's last answer, else all. */
function refusedImages({ messages }: ModelRequest, { code, message }: NanoAgentError): readonly ImageBlock[] {
  const isCandidate = code === "bad_request" || code === "provider_error" || code === "unknown_model";
  if (!isCandidate || !IMAGE_WORDS.test(message)) return [];
  const answered = messages.findLastIndex(({ role }) => role === "assistant");
  const unanswered = messages.slice(answered + 1).flatMap(imagesIn);
  return unanswered.length > 0 ? unanswered : messages.flatMap(imagesIn);
}

function imagesIn({ content }: Pick<Message, "content">): readonly ImageBlock[] {
  return (content as readonly ContentBlock[]).flatMap((block) => {
    if (block.type === "image") return [block];
    return block.type === "tool_result" && typeof block.content !== "string" ? imagesIn(block as never) : [];
  });
}

/** A position in the list of tools, as vendors write it: `tools[3].function`, `tools.3.custom`, … */
const TOOL_POSITION = /\b(?:tools|function_?declarations)[[.](\d+)\b(?!\]?\.function_?declarations)/i;
/** Words about a tool's schema. Without them, its name may occur in a complaint about a message. */
const SCHEMA_WORDS = /schema|parameters|function_?declaration/i;

/** The tool an error is about, by position or name; never a forced one. */
function refusedTool({ tools = [], toolChoice }: ModelRequest, error: NanoAgentError): ToolSpec | undefined {
  if (error.code !== "bad_request") return undefined;
  const param = error.details["param"];
  const tool = toolIn(`${typeof param === "string" ? param : ""} ${error.message}`, tools);
  return typeof toolChoice === "object" && toolChoice.name === tool?.name ? undefined : tool;
}

function toolIn(text: string, tools: readonly ToolSpec[]): ToolSpec | undefined {
  const [, position] = TOOL_POSITION.exec(text) ?? [];
  if (position !== undefined) return tools[Number(position)];
  if (!SCHEMA_WORDS.test(text)) return undefined;
  const words = new Set(text.match(/['"`][\w-]+['"`]/g)?.map((word) => word.slice(1, -1)));
  return tools.find(({ name }) => words.has(name));
}

/** The vendors' words for a seal that is unreadable or not theirs. */
const SEAL_WORDS =
  /signature|(?:redacted_)?thinking`? block|encrypted[ _]content|reasoning item|of type 'reasoning'|\brs_\w+/i;

function refusedSeals(
  { messages }: ModelRequest,
  { code, message }: NanoAgentError,
): readonly AssistantBlock[] {
  if (code !== "bad_request" || !SEAL_WORDS.test(message)) return [];
  return messages.flatMap(({ role, content }) =>
    role === "assistant" ? content.filter((block) => sealsOf(block) !== undefined) : [],
  );
}

/** The `provider_data` field that identifies a seal's maker: a hash of endpoint, account and model. */
const MAKER = "made_by";

/** Fields of `provider_data` that are not sealed: anyone can read them. */
const OPEN_FIELDS: ReadonlySet<string> = new Set([MAKER, "field", "provider", "emptyText"]);

/** The data of a sealed block; `undefined` if it is not sealed. */
function sealsOf(block: AssistantBlock): ProviderData | undefined {
  const { provider_data: data } = block;
  if (block.type === "thinking" && (block.signature !== undefined || block.redacted !== undefined))
    return data ?? { anthropic: {} };
  const isSealed = Object.values(data ?? {}).some((own) =>
    Object.keys(own).some((field) => !OPEN_FIELDS.has(field)),
  );
  return isSealed ? data : undefined;
}

function withoutSeals({ provider_data: data, ...block }: AssistantBlock): AssistantBlock {
  const field = data?.["openai_chat"]?.["field"];
  const rest = field === undefined ? {} : { provider_data: { openai_chat: { field } } };
  if (block.type !== "thinking") return { ...block, ...rest };
  return { type: "thinking", thinking: block.thinking, ...rest };
}
