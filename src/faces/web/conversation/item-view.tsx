import { Component, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalText } from "../../../view/safe-text.ts";
import type { ShellItem, ThinkingItem, UserItem, ViewItem } from "../../../view/view.ts";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { markOf } from "../sessions/session-outcome.ts";
import { Icon, StateMark } from "../text/icons.tsx";
import { Markdown } from "../text/markdown.tsx";
import { EndActionsContext } from "./end-actions.ts";
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
    <ol class="talk">
      {items.map((item) => (
        <ItemView key={item.id} item={item} isMarked={item.id === marked} />
      ))}
    </ol>
  );
}

function Said({ item: { text, images, source, time } }: { readonly item: UserItem }): VNode {
  const words = useWords();
  const { moment } = useFormats();
  return (
    <article class="say">
      <div class="plain" dir="auto">
        {source !== "input" && <span class="soft">{words.said[source]}: </span>}
        {terminalText(text)}
        {images > 0 && <p class="soft">{words.images(images)}</p>}
      </div>
      <time class="num" dateTime={new Date(time).toISOString()}>
        {moment(time, Date.now())}
      </time>
    </article>
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
    <details class="think">
      <summary>
        <Icon name="right" />
        {state === "streaming" ? words.thinking : words.thought} ·{" "}
        {words.thoughts(trimmed.split(/\s+/).length)}
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
    <article class="step">
      <p class="line">
        <code class="mono">! {terminalText(command)}</code>
        <span class="meta">
          {exitCode !== 0 && words.exitCode(exitCode)}
          {!shared && ` ${words.notShared}`}
        </span>
      </p>
      {output.trim() !== "" && (
        <div class="body">
          <pre class="pane out" tabIndex={0} aria-label={words.result}>
            {terminalText(output.trimEnd())}
          </pre>
        </div>
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
  const { end, isWritable, actions } = useContext(EndActionsContext);
  const mark = markOf(stopReason);
  const facts = [duration(durationMs), ...(costUsd === undefined ? [] : [money(costUsd)])].join(" · ");
  return (
    <div class="done">
      <StateMark mark={mark} name={words.marks[mark]} />
      <span>
        <b>{words.ended[stopReason]}</b>
        {error !== undefined && stopReason !== "aborted" && (
          <span class="bad">: {terminalText(error.message)}</span>
        )}
        <span class="num"> · {facts}</span>
      </span>
      {item.id === end && actions !== undefined && (
        <span class="end">
          {isWritable && (
            <button
              type="button"
              class="btn bare small"
              title={words.undoHint}
              onClick={() => actions.undo()}
            >
              <Icon name="undo" />
              {words.undo}
            </button>
          )}
          <button type="button" class="btn bare small" title={words.forkHint} onClick={() => actions.fork()}>
            <Icon name="fork" />
            {words.fork}
          </button>
        </span>
      )}
    </div>
  );
}
