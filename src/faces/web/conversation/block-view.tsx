import { Component, type VNode } from "preact";
import { useContext } from "preact/hooks";
import { type AgentBlock, type Block, blockOf, type CallBlock, type Level } from "../../../view/blocks.ts";
import { evidenceText } from "../../../view/evidence.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import type { ToolItem, ViewItem } from "../../../view/view.ts";
import type { Phrase } from "../../../view/words.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { markOf } from "../sessions/live-sessions.ts";
import { Button } from "../text/controls.tsx";
import { DiffView, LineCounts } from "../text/diff-view.tsx";
import { CALL_MARKS, Icon, StateMark, Trace } from "../text/icons.tsx";
import { Markdown } from "../text/markdown.tsx";
import { SessionContext } from "./session-scope.ts";

interface ItemProps {
  readonly item: ViewItem;
  /** True for the entry that another view has linked to. */
  readonly isMarked?: boolean;
}

interface ItemState {
  readonly hasFailed?: boolean;
}

/** One item of a conversation. It is redrawn only if it has changed; if drawing fails, its kind is shown. */
class ItemView extends Component<ItemProps, ItemState> {
  static override getDerivedStateFromError(): ItemState {
    return { hasFailed: true };
  }

  override shouldComponentUpdate({ item, isMarked }: ItemProps, { hasFailed }: ItemState): boolean {
    return item !== this.props.item || isMarked !== this.props.isMarked || hasFailed !== this.state.hasFailed;
  }

  override render({ item, isMarked = false }: ItemProps, { hasFailed }: ItemState): VNode | null {
    if (hasFailed === true) return <li class="item bad">{item.type}</li>;
    const block = blockOf(item, { details: true });
    if (block === undefined) return null;
    return (
      <li id={`item-${item.id}`} class={`item ${item.type}${isMarked ? " marked" : ""}`} tabIndex={-1}>
        <BlockView block={block} id={item.id} />
      </li>
    );
  }
}

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

function BlockView({ block, id }: { readonly block: Block; readonly id: string }): VNode {
  switch (block.kind) {
    case "said":
      return <UserMessage block={block} />;
    case "answer":
      return <Answer block={block} />;
    case "thinking":
      return <Thinking block={block} />;
    case "call":
      return <Call block={block} />;
    case "shell":
      return <Shell block={block} />;
    case "note":
      return <Note level={block.level} phrase={block.phrase} />;
    case "end":
      return <End block={block} id={id} />;
  }
}

type BlockProps<K extends Block["kind"]> = { readonly block: Extract<Block, { readonly kind: K }> };

function UserMessage({ block: { by, text, images, time } }: BlockProps<"said">): VNode {
  const { words, moment } = useLanguage();
  return (
    <article class="say">
      <div class="plain" dir="auto">
        {by !== "input" && <span class="soft">{words.said[by]}: </span>}
        {terminalText(text)}
        {images > 0 && <p class="soft">{words.images(images)}</p>}
      </div>
      <time class="num" dateTime={new Date(time).toISOString()}>
        {moment(time, Date.now())}
      </time>
    </article>
  );
}

function Answer({ block: { markdown, state } }: BlockProps<"answer">): VNode {
  const words = useWords();
  return (
    <article aria-label={words.answer}>
      <Markdown text={markdown} />
      {state === "interrupted" && <p class="warn">({words.marks.cut})</p>}
    </article>
  );
}

function Thinking({ block: { text, words: count, isStreaming } }: BlockProps<"thinking">): VNode {
  const words = useWords();
  if (text === "") return <p class="soft">{words.hiddenThinking}</p>;
  return (
    <details class="think">
      <summary>
        <Icon name="right" />
        {isStreaming ? words.thinking : words.thought} · {words.thoughts(count)}
      </summary>
      <div class="plain" dir="auto">
        {terminalText(text)}
      </div>
    </details>
  );
}

function Shell({ block: { command, output, exitCode, shared } }: BlockProps<"shell">): VNode {
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
      {output !== "" && (
        <div class="body">
          <Pane name={words.result} text={output} />
        </div>
      )}
    </article>
  );
}

function Note({ level, phrase }: { readonly level: Level; readonly phrase: Phrase }): VNode {
  const { words, count } = useLanguage();
  if (phrase.code === "compacted") {
    const { before, after, method } = phrase;
    return <p class="notice soft">{words.compacted(count(before), count(after), words.methods[method])}</p>;
  }
  return (
    <p class={`notice ${LEVELS[level]}`}>
      <strong>{words.notice[level]}:</strong> {terminalText(noticeText(phrase.notice))}
    </p>
  );
}

const LEVELS = { info: "soft", warning: "warn", error: "bad" } as const;

/** A change of at most this many lines starts unfolded. */
const OPEN_LINES = 20;

/** A call: one line that unfolds to all of it. Short changes and relevant output start unfolded. */
function Call({ block }: BlockProps<"call">): VNode {
  const words = useWords();
  const { name, subject, state, diff, output, shows, agent, isNested } = block;
  const mark = CALL_MARKS[state];
  const lines = diff?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  const isOpen = lines === undefined ? shows === "open" && output.trim() !== "" : lines <= OPEN_LINES;
  return (
    <>
      <details class={`step${isNested ? " nested" : ""}`} open={isOpen}>
        <summary>
          <StateMark mark={mark} />
          <span class="v">{words.verbs[name] ?? terminalLine(name, 80)}</span>
          <span class="mono cut">{terminalLine(subject, 300)}</span>
          <span class="meta num">
            {diff === undefined ? <Facts block={block} /> : <LineCounts lines={diff} />}
          </span>
        </summary>
        <div class="body">
          {diff === undefined ? (
            <CallDetails block={block} />
          ) : (
            <div class="pane">
              <DiffView diff={diff} />
            </div>
          )}
        </div>
      </details>
      {agent !== undefined && <Agent agent={agent} />}
    </>
  );
}

/** The result in a few words; empty while a question is open, because the question shows it. */
function Facts({ block: { state, brief, durationMs = 0 } }: BlockProps<"call">): VNode {
  const { words, duration } = useLanguage();
  // The mark already shows success.
  const briefText = brief === "exit code 0" ? "" : brief;
  const result =
    briefText !== "" || state === "ok" || state === "asking" ? briefText : words.marks[CALL_MARKS[state]];
  const time = durationMs >= 1_000 ? duration(durationMs) : "";
  return <>{[result, time].filter((fact) => fact !== "").join(" · ")}</>;
}

function CallDetails({ block: { input, subject, output } }: { readonly block: CallBlock }): VNode {
  const words = useWords();
  const argumentsShown = argumentText(input);
  return (
    <>
      {Object.keys(input).length > 0 && argumentsShown !== subject && (
        <>
          <h4>{words.arguments}</h4>
          <Pane name={words.arguments} text={argumentsShown} />
        </>
      )}
      {output.trim() !== "" && (
        <>
          <h4>{words.result}</h4>
          <Pane name={words.result} text={output} />
        </>
      )}
    </>
  );
}

/** A single text argument is shown as is: a command reads better without quotes and escapes. */
function argumentText(input: ToolItem["input"]): string {
  const [only, ...more] = Object.values(input);
  return typeof only === "string" && more.length === 0 ? only : JSON.stringify(input, undefined, 2);
}

function Pane({ name, text }: { readonly name: string; readonly text: string }): VNode {
  return (
    <pre class="pane out" tabIndex={0} aria-label={name} dir="auto">
      {terminalText(text)}
    </pre>
  );
}

function Agent({ agent }: { readonly agent: AgentBlock }): VNode {
  const { words, count, money } = useLanguage();
  const cost = agent.costUsd === undefined ? words.costUnknown : money(agent.costUsd);
  return (
    <details class="step">
      <summary>
        <Icon name="right" />
        <span class="v">{words.subagent(terminalLine(agent.name, 80))}</span>
        <span class="meta">
          {words.tokens(count(agent.outputTokens))} · {cost}
        </span>
      </summary>
      <Items items={agent.items} />
    </details>
  );
}

function End({ block, id }: BlockProps<"end"> & { readonly id: string }): VNode {
  const { reason, error, durationMs, costUsd, changes, trace, evidence } = block;
  const { words, duration, money } = useLanguage();
  const open = useContext(SessionContext);
  const isNewest = open?.route.view === "chat" && id === open.view.items.findLast(isEnd)?.id;
  const mark = markOf(reason);
  const checks = evidence === undefined ? "" : evidenceText(evidence, words.evidence);
  const evidenceSummary =
    checks === "" && changes !== undefined ? words.evidence.files(changes.files) : checks;
  const hasLines = changes !== undefined && changes.added + changes.removed > 0;
  return (
    <div class="done">
      <StateMark mark={mark} />
      <span>
        <b>{words.ended[reason]}</b>
        {error !== undefined && <span class="bad">: {terminalText(error)}</span>}
        <span class="num">
          {error === undefined ? " " : " · "}
          {duration(durationMs)}
        </span>
        {hasLines && (
          <span class="num">
            {" · "}
            <LineCounts lines={changes} />
          </span>
        )}
        {evidenceSummary !== "" && <span> · {terminalLine(evidenceSummary, 500)}</span>}
        {costUsd !== undefined && costUsd > 0 && <span class="num"> · {money(costUsd)}</span>}
      </span>
      {trace !== undefined && <Trace trace={trace} isShort />}
      {isNewest && (
        <span class="end">
          {open.canRedo ? (
            <Button icon="redo" look="bare small" title={words.redoHint} onClick={() => open.actions.redo()}>
              {words.redo}
            </Button>
          ) : (
            open.canUndo === "newest" && (
              <Button
                icon="undo"
                look="bare small"
                title={words.undoHint}
                onClick={() => open.actions.undo()}
              >
                {words.undo}
              </Button>
            )
          )}
          <Button icon="fork" look="bare small" title={words.forkHint} onClick={() => open.actions.fork()}>
            {words.fork}
          </Button>
        </span>
      )}
    </div>
  );
}

function isEnd({ type }: ViewItem): boolean {
  return type === "run_end";
}
