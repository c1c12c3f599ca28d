import { fileURLToPath } from "node:url";
import { type BlobResourceContents, type ContentBlock, RequestError } from "@agentclientprotocol/sdk";
import type { Input } from "../../core/message/input.ts";
import type { UserBlock } from "../../core/message/message.ts";

/** A prompt of an editor as input of a run: texts in one message, with the files it embeds; images. */
export function promptInput(prompt: readonly ContentBlock[]): Input {
  const blocks = prompt.map(toBlock);
  // A plain text stays one, so that a command at its beginning is seen.
  const [first, ...rest] = blocks;
  if (first?.type === "text" && rest.length === 0) return first.text;
  if (blocks.every((block) => block.type === "text"))
    return blocks.map((block) => (block.type === "text" ? block.text : "")).join("\n\n");
  return [{ role: "user", content: blocks }];
}

function toBlock(block: ContentBlock): UserBlock {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return {
        type: "image",
        source: { type: "base64", media_type: block.mimeType, data: block.data },
      };
    case "resource_link":
      return { type: "text", text: `@${localPath(block.uri)}` };
    case "resource": {
      const { resource } = block;
      if (!("text" in resource)) return embeddedImage(resource);
      return {
        type: "text",
        text: `<file path=${JSON.stringify(localPath(resource.uri))}>\n${resource.text}\n</file>`,
      };
    }
    default:
      throw RequestError.invalidParams(
        { type: block.type },
        `A prompt cannot hold ${block.type}: text, images and files can be sent.`,
      );
  }
}

function embeddedImage({ uri, mimeType, blob }: BlobResourceContents): UserBlock {
  if (mimeType?.startsWith("image/") !== true)
    throw RequestError.invalidParams({ uri }, "An embedded resource must be text or an image.");
  return { type: "image", source: { type: "base64", media_type: mimeType, data: blob } };
}

function localPath(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    // Not a file of this machine: the address itself says where it is.
    return uri;
  }
}
