import { Component, type ComponentChildren, type VNode } from "preact";
import { noticeText } from "../../../app/coding-session/notice-text.ts";
import type { ShellItem, ThinkingItem, UserItem, ViewItem } from "../../../app/coding-session/view.ts";
import { terminalText } from "../../../app/safe-text.ts";
import { endedByItself } from "../../../core/base/stop-reason.ts";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { Markdown } from "../text/markdown.tsx";
import { ToolView } from "./tool-view.tsx";

interface ItemProps {
  readonly item: ViewItem;
  /** The entry is one that another view has led to. */
  readonly isMarked?: boolean;
}

/** One item of a conversation. It is drawn anew only when it has changed. */
export class ItemView extends Component<ItemProps> {
  override shouldComponentUpdate({ item, isMarked }: ItemProps): boolean {
    return item !== this.props.item || isMarked !== this.props.isMarked;
  }

  override render({ item, isMarked = false }: ItemProps): VNode | null {
    if (item.isVoid === true) return null;
    return (
      <li id={`item-${item.id}`} class={`item ${item.type}${isMarked ? " marked" : ""}`} tabIndex={-1}>
        <Content item={item} />
      </li>
    );
  }
}

function Content({ item }: { readonly item: ViewItem }): VNode | null {
  switch (item.type) {
    case "user":
      return <Said item={item} />;
    case "answer":
      return <Answer text={item.text} isCut={item.state === "interrupted"} />;
    case "thinking":
      return <Thinking item={item} />;
    case "tool":
      return <ToolView item={item} items={(inner) => <Items items={inner} />} />;
    case "shell":
      return <Shell item={item} />;
    case "notice":
      return <Notice level={item.notice.level} text={noticeText(item.notice)} />;
    case "compaction":
      return <Compaction item={item} />;
    case "run_end":
      return <RunEnd item={item} />;
  }
}

/** Items one below the other. */
export function Items({
  items,
  marked,
}: {
  readonly items: readonly ViewItem[];
  readonly marked?: string | undefined;
}): VNode {
  return (
    <ol class="items">
      {items.map((item) => (
        <ItemView key={item.id} item={item} isMarked={item.id === marked} />
      ))}
    </ol>
  );
}

function Said({ item: { text, images, source, time } }: { readonly item: UserItem }): VNode {
  const words = useWords();
  return (
    <article class="said">
      <Head name={source === "input" ? words.you : words.said[source]} time={time} />
      <div class="plain" dir="auto">
        {terminalText(text)}
      </div>
      {images > 0 && <p class="soft">{words.images(images)}</p>}
    </article>
  );
}

function Head({ name, time }: { readonly name: string; readonly time: number }): VNode {
  const { moment } = useFormats();
  return (
    <header class="item-head">
      <strong>{name}</strong>
      <time dateTime={new Date(time).toISOString()}>{moment(time, Date.now())}</time>
    </header>
  );
}

function Answer({ text, isCut }: { readonly text: string; readonly isCut: boolean }): VNode {
  const words = useWords();
  return (
    <article aria-label={words.answer}>
      <Markdown text={text} />
      {isCut && <p class="warn">({words.interrupted})</p>}
    </article>
  );
}

function Thinking({ item: { text, state } }: { readonly item: ThinkingItem }): VNode {
  const words = useWords();
  const trimmed = text.trim();
  if (trimmed === "") return <p class="soft">{words.hiddenThinking}</p>;
  return (
    <details class="thinking">
      <summary>
        {words.thinking} <span class="soft">{words.thoughts(trimmed.split(/\s+/).length)}</span>
        {state === "streaming" && <span class="pulse" aria-hidden="true" />}
      </summary>
      <div class="plain" dir="auto">
        {terminalText(trimmed)}
      </div>
    </details>
  );
}

function Shell({ item: { command, output, exitCode, shared } }: { readonly item: ShellItem }): VNode {
  const words = useWords();
  return (
    <article class="shell">
      <p>
        <code>! {terminalText(command)}</code>{" "}
        <span class={exitCode === 0 ? "soft" : "bad"}>{words.exitCode(exitCode)}</span>
        {!shared && <span class="soft"> {words.notShared}</span>}
      </p>
      {output.trim() !== "" && (
        <pre tabIndex={0} aria-label={words.result}>
          {terminalText(output.trimEnd())}
        </pre>
      )}
    </article>
  );
}

function Notice({
  level,
  text,
}: {
  readonly level: "info" | "warning" | "error";
  readonly text: string;
}): VNode {
  const words = useWords();
  return (
    <p class={`notice ${LEVELS[level]}`}>
      <strong>{words.notice[level]}:</strong> {terminalText(text)}
    </p>
  );
}

const LEVELS = { info: "soft", warning: "warn", error: "bad" } as const;

type ItemOf<T extends ViewItem["type"]> = Extract<ViewItem, { readonly type: T }>;

function Compaction({ item: { before, after } }: { readonly item: ItemOf<"compaction"> }): VNode {
  const words = useWords();
  const { count } = useFormats();
  return <p class="notice soft">{words.compacted(count(before), count(after))}</p>;
}

function RunEnd({ item }: { readonly item: ItemOf<"run_end"> }): VNode {
  const { stopReason, error, durationMs, costUsd } = item;
  const words = useWords();
  const { duration, money } = useFormats();
  const facts: ComponentChildren[] = [duration(durationMs)];
  if (costUsd !== undefined) facts.push(money(costUsd));
  return (
    <p class={`run-end ${endedByItself(stopReason) ? "soft" : stopReason === "error" ? "bad" : "warn"}`}>
      {words.ended[stopReason]}
      {error !== undefined && stopReason !== "aborted" && <>: {terminalText(error.message)}</>}
      {facts.map((fact) => (
        <> · {fact}</>
      ))}
    </p>
  );
}
