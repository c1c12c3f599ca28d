import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { UserBlock } from "../../../core/message/message.ts";
import { imageTypeOf } from "../../../tools/files/file-text.ts";

/** A paste of more lines or characters than this stands in the input as a mark. */
const MAX_LINES = 8;
const MAX_CHARS = 1_200;
const MAX_IMAGE_BYTES = 10_000_000;

type ImageBlock = Extract<UserBlock, { type: "image" }>;

/** The contents behind the marks of an input: long pastes and images. */
export class Attachments {
  readonly #pastes = new Map<string, string>();
  readonly #images = new Map<string, ImageBlock>();

  /** The text that a paste puts into the input: its own, a mark for a long one, or for an image's path. */
  paste(text: string, cwd: string): string {
    const clean = cleanPaste(text);
    const image = imageAt(clean.trim(), cwd);
    if (image !== undefined) return this.addImage(image);
    const lines = clean.split("\n").length;
    if (lines <= MAX_LINES && clean.length <= MAX_CHARS) return clean;
    const mark = this.#freshMark(lines > 1 ? `pasted ${lines} lines` : `pasted ${clean.length} characters`);
    this.#pastes.set(mark, clean);
    return mark;
  }

  /** The mark of an image, to be put into the input. */
  addImage(image: ImageBlock): string {
    const mark = this.#freshMark("image");
    this.#images.set(mark, image);
    return mark;
  }

  /** Knows the images of a text again that was in an input before. */
  takeBack(text: string, images: readonly ImageBlock[]): void {
    if (images.length === 0) return;
    const marks = [...text.matchAll(/\[image(?: #(\d+))?\]/g)];
    const inOrder = marks.toSorted(([, a = "1"], [, b = "1"]) => Number(a) - Number(b));
    for (const [index, image] of images.entries()) this.#images.set(inOrder[index]?.[0] ?? "[image]", image);
  }

  /** A text with its pastes in the place of their marks. */
  expand(text: string): string {
    let whole = text;
    for (const [mark, paste] of this.#pastes) whole = whole.replace(mark, () => paste);
    return whole;
  }

  /** The images whose marks are still in a text. */
  imagesIn(text: string): readonly ImageBlock[] {
    return [...this.#images].filter(([mark]) => text.includes(mark)).map(([, image]) => image);
  }

  #freshMark(what: string): string {
    for (let number = 1; ; number++) {
      const mark = number === 1 ? `[${what}]` : `[${what} #${number}]`;
      if (!this.#pastes.has(mark) && !this.#images.has(mark)) return mark;
    }
  }
}

/** A paste without what a terminal acts on: escapes, control characters, those that turn text around. */
export function cleanPaste(text: string): string {
  return text
    .replaceAll(/\r\n?/g, "\n")
    .replaceAll(/\u001B(?:\[[0-9;:<=>?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|.)?/gsu, "")
    .toWellFormed()
    .replaceAll(/(?![\n\t\u200C\u200D])[\p{Cc}\p{Cf}]/gu, "");
}

/** An image file that a text is the path of, as it comes when a file is dropped on a terminal. */
export function imageAt(text: string, cwd: string): ImageBlock | undefined {
  if (text.includes("\n") || text.length > 4_096 || !/\.(?:png|jpe?g|gif|webp)["']?$/i.test(text))
    return undefined;
  const plain = text.replace(/^(["'])(.*)\1$/, "$2");
  const path = plain.startsWith("file://")
    ? pathOfUrl(plain)
    : plain.replaceAll(/\\(.)/g, "$1").replace(/^~(?=\/)/, homedir());
  if (path === undefined) return undefined;
  const full = isAbsolute(path) ? path : resolve(cwd, path);
  try {
    const stats = statSync(full);
    if (!stats.isFile() || stats.size > MAX_IMAGE_BYTES) return undefined;
    return imageBlock(readFileSync(full));
  } catch {
    // No such file: it was text.
    return undefined;
  }
}

/** The images that a text mentions as `@path`. */
export function imagesMentioned(text: string, cwd: string): readonly ImageBlock[] {
  const paths = [...text.matchAll(/(?:^|\s)@("[^"\n]+"|\S+)/g)].map(([, path = ""]) => path);
  return [...new Set(paths)].flatMap((path) => imageAt(path, cwd) ?? []);
}

/** The block of an image; undefined when the bytes are none. */
export function imageBlock(bytes: Uint8Array): ImageBlock | undefined {
  const media = imageTypeOf(bytes);
  if (media === undefined) return undefined;
  return {
    type: "image",
    source: { type: "base64", media_type: media, data: Buffer.from(bytes).toString("base64") },
  };
}

function pathOfUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
