import type { ContentBlock, ImageBlock, TextBlock } from "../../core/message/block.ts";
import { type Html, html } from "./html.ts";

/** A block of a message that is no tool call and no result. */
export function renderBlock(block: ContentBlock): Html | undefined {
  switch (block.type) {
    case "text":
      return renderText(block.text);
    case "thinking":
      return block.thinking.trim() === ""
        ? html`<p class="think">(reasoning that the provider keeps hidden)</p>`
        : html`<details class="think"><summary>Thinking</summary>${renderText(block.thinking)}</details>`;
    case "image":
      return renderImage(block);
    default:
      return undefined;
  }
}

/** Text as it was written, in its own direction. */
export function renderText(text: string): Html | undefined {
  return text.trim() === "" ? undefined : html`<div class="text" dir="auto">${text.trim()}</div>`;
}

/** Kinds of images a page shows; others could hold scripts. */
const SHOWN_IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

function renderImage({ source }: ImageBlock): Html {
  if (source.type === "url") return html`<p class="note">Image at ${source.url} (not loaded)</p>`;
  const isShown = SHOWN_IMAGES.has(source.media_type) && /^[A-Za-z0-9+/]+={0,2}$/.test(source.data);
  if (!isShown) return html`<p class="note">Image of type ${source.media_type} (not shown)</p>`;
  return html`<p><img alt="Image in the conversation" src="data:${source.media_type};base64,${source.data}"></p>`;
}

/** The content of a tool result. */
export function renderResult(content: string | readonly (TextBlock | ImageBlock)[]): Html {
  if (typeof content === "string") return html`<pre dir="auto">${content}</pre>`;
  return html`${content.map((block) => (block.type === "text" ? html`<pre dir="auto">${block.text}</pre>` : renderImage(block)))}`;
}

/** A unified diff, line by line. */
export function renderDiff(diff: string): Html {
  const lines = diff.replace(/\n$/, "").split("\n");
  return html`<pre class="diff">${lines.map((line) => html`<span class="${kindOf(line)}">${line}</span>`)}</pre>`;
}

function kindOf(line: string): string {
  if (/^(?:@@|---|\+\+\+|===|Index)/.test(line)) return "h";
  return line.startsWith("+") ? "a" : line.startsWith("-") ? "d" : "c";
}
