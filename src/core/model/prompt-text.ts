import type { ContentBlock } from "../message/block.ts";
import type { Message } from "../message/message.ts";
import type { ToolSpec } from "./model.ts";

/** The text of a message or a tool for the model, in pieces: whoever counts tokens weighs these. */
export interface PromptText {
  readonly texts: readonly string[];
  readonly images: number;
  /** Parts that cost a few tokens of their own for being there. */
  readonly parts: number;
}

/** Tokens of the frame around a message, a block or a tool. */
export const PART_TOKENS = 4;

/** Content of a message: text, reasoning with its signature, calls as JSON, results, images. */
export function promptText({ content }: Message): PromptText {
  const texts: string[] = [];
  let images = 0;
  let parts = 1;
  const add = (blocks: readonly ContentBlock[]): void => {
    for (const block of blocks) {
      parts += 1;
      switch (block.type) {
        case "text":
          // An empty one stands for something of the provider's own, such as what a search of it found.
          texts.push(block.text === "" ? (JSON.stringify(block.provider_data) ?? "") : block.text);
          break;
        case "thinking":
          texts.push(block.thinking, block.signature ?? "", block.redacted ?? "");
          break;
        case "image":
          images += 1;
          break;
        case "tool_use":
          texts.push(block.name, block.invalid_input?.raw ?? JSON.stringify(block.input) ?? "");
          break;
        case "tool_result":
          if (typeof block.content === "string") texts.push(block.content);
          else add(block.content);
          break;
      }
    }
  };
  add(content);
  return { texts, images, parts };
}

/** The text of a tool in every request. */
export function toolPromptText({ name, description, parameters }: ToolSpec): PromptText {
  return { texts: [name, description, JSON.stringify(parameters)], images: 0, parts: 1 };
}
