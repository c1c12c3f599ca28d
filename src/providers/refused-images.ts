import type { NanoAgentError } from "../core/base/errors.ts";
import type { ContentBlock, ImageBlock, TextBlock } from "../core/message/block.ts";
import type { Message } from "../core/message/message.ts";
import type { ModelRequest } from "../core/model/model.ts";

/**
 * The images one model does not take. A refused image would end every later request of its conversation too,
 * so requests go on without it: a note in its place tells the model.
 */
export class RefusedImages {
  readonly #takesNone: boolean;
  readonly #refused = new WeakSet<ImageBlock>();
  /** The same object each time: encoders keep the text of messages they know. */
  #noted = new WeakMap<Message, Message>();
  #isEmpty = true;

  /** `takesNone`: the model is known to take no images at all. */
  constructor(takesNone: boolean) {
    this.#takesNone = takesNone;
  }

  /** The request as it can be sent. */
  without(request: ModelRequest): ModelRequest {
    if (this.#isEmpty && !this.#takesNone) return request;
    const messages = request.messages.map((message) => this.#messageWithout(message));
    return { ...request, messages };
  }

  /** Learns from a failed request. True when `error` is about its images: the next goes without them. */
  learn(sent: ModelRequest, error: NanoAgentError): boolean {
    if (!isAboutImages(error)) return false;
    const { messages } = sent;
    const answered = messages.findLastIndex(({ role }) => role === "assistant");
    const fresh = messages.slice(answered + 1).flatMap(imagesIn);
    const images = fresh.length > 0 ? fresh : messages.flatMap(imagesIn);
    for (const image of images) this.#refused.add(image);
    this.#noted = new WeakMap();
    this.#isEmpty &&= images.length === 0;
    return images.length > 0;
  }

  #messageWithout(message: Message): Message {
    const known = this.#noted.get(message);
    if (known !== undefined) return known;
    const noted = imagesIn(message).some((image) => this.#isLeftOut(image))
      ? ({ ...message, content: this.#blocksWithout(message.content) } as Message)
      : message;
    this.#noted.set(message, noted);
    return noted;
  }

  #blocksWithout(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
    return blocks.map((block) => {
      if (block.type === "image") return this.#isLeftOut(block) ? NOTE : block;
      if (block.type !== "tool_result" || typeof block.content === "string") return block;
      return { ...block, content: this.#blocksWithout(block.content) as typeof block.content };
    });
  }

  #isLeftOut(image: ImageBlock): boolean {
    return this.#takesNone || this.#refused.has(image);
  }
}

const NOTE: TextBlock = { type: "text", text: "[An image was left out here: this model does not take it.]" };

function imagesIn({ content }: Pick<Message, "content">): readonly ImageBlock[] {
  return (content as readonly ContentBlock[]).flatMap((block) => {
    if (block.type === "image") return [block];
    return block.type === "tool_result" && typeof block.content !== "string" ? imagesIn(block as never) : [];
  });
}

/** Vendors have no code for this. Their words name the image, the content, or what the model lacks. */
const IMAGE_WORDS =
  /\bimages?\b|image_url|input_image|\bvision\b|multi-?modal|modalit|mmproj|content must be a string|unknown variant/i;

function isAboutImages({ code, message }: NanoAgentError): boolean {
  return (
    (code === "bad_request" || code === "provider_error" || code === "unknown_model") &&
    IMAGE_WORDS.test(message)
  );
}
