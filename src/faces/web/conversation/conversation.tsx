import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import { type ConnectionRetry, ServerProblem } from "../../../server/create-reader.ts";
import type { SessionDetail } from "../../../server/server-api.ts";
import { modeName } from "../../../view/mode-names.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { RunView, ViewItem } from "../../../view/view.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Button } from "../text/controls.tsx";
import { Icon, StateMark } from "../text/icons.tsx";
import { useReader, WorkLine } from "../work.tsx";
import { Items } from "./block-view.tsx";
import { QuestionView } from "./question-view.tsx";
import { useOpenSession } from "./session-scope.ts";
import { SessionSide } from "./session-side.tsx";

/** The conversation of a session, and the dock for taking part in it. */
export function Conversation(): VNode {
  const words = useWords();
  const reader = useReader();
  const [draft, setDraft] = useState("");
  const { route, actions, work, isWritable, view, entries, detail, retry, mode } = useOpenSession();
  const { id, entry } = route;
  const { state, questions } = view;
  const itemIndex = useMemo(() => {
    const target = entries.find((each) => each.id === entry);
    return target === undefined ? undefined : itemIndexOf(view.items, target);
  }, [entry]);
  const send = async (text: string, when: "now" | "after"): Promise<boolean> =>
    (await work.attempt(() => reader.send(id, { text, when }).then(() => true))) ?? false;
  // The question shows the plan it is about.
  const questionCallId = questions[0]?.callId;
  const items =
    questionCallId === undefined
      ? view.items
      : view.items.filter((item) => item.id !== `plan_${questionCallId}`);
  return (
    <div class="cols">
      <div class="mid">
        <div class="scroll">
          <section aria-label={words.conversation}>
            <ItemList key={`${id} ${entry ?? ""}`} items={items} itemIndex={itemIndex} />
          </section>
        </div>
        <div class="dock">
          <WorkLine work={work} />
          {retry !== undefined && <ConnectionLost retry={retry} />}
          {view.run !== undefined && state === "running" && retry === undefined && <RunLine run={view.run} />}
          {/* Only once it is known who may answer: earlier keys would miss the answers. */}
          {detail !== undefined && <Questions />}
          <Queue />
          {isWritable && questions.length === 0 && (
            <Composer
              isRunning={state !== "idle"}
              draft={draft}
              change={setDraft}
              mode={mode && modeName(mode)}
              model={terminalLine(view.model.replace(/^[^/]*\//, ""), 40)}
              send={send}
              stop={actions.stop}
            />
          )}
          {detail?.readOnly === true && <ReadOnly detail={detail} fork={() => actions.fork()} />}
        </div>
      </div>
      <SessionSide />
    </div>
  );
}

/** Shows when the next attempt follows, and makes it at once on request. */
function ConnectionLost({ retry }: { readonly retry: ConnectionRetry }): VNode {
  const words = useWords();
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const end = Date.now() + retry.inMs;
    const count = (): void => setSeconds(Math.max(1, Math.ceil((end - Date.now()) / 1_000)));
    count();
    const timer = setInterval(count, 1_000);
    return () => clearInterval(timer);
  }, [retry]);
  return (
    <p class="note warn">
      <span role="status">{words.connectionLost}</span>
      <span class="num">{words.retryingIn(seconds)}</span>
      <Button look="small" onClick={retry.now}>
        {words.retryNow}
      </Button>
    </p>
  );
}

function ReadOnly({ detail, fork }: { readonly detail: SessionDetail; readonly fork: () => void }): VNode {
  const { words, clock } = useLanguage();
  const { heldBy } = detail;
  return (
    <p class="note">
      {heldBy === undefined ? words.readOnly : words.heldBy(heldBy.pid, clock(heldBy.since))}
      <Button onClick={fork}>{words.fork}</Button>
    </p>
  );
}

function RunLine({ run: { phase, retry, outputTokens } }: { readonly run: RunView }): VNode {
  const { words, count } = useLanguage();
  return (
    <p class="status" role="status">
      <StateMark mark="run" name="" />
      {retry === undefined
        ? words.phase[phase]
        : words.retrying(retry.attempt, terminalLine(retry.reason, 200))}
      {/* A screen reader would announce each token. */}
      <span aria-hidden="true"> · {words.tokens(count(outputTokens))}</span>
    </p>
  );
}

function Questions(): VNode {
  const words = useWords();
  const reader = useReader();
  const { route, work, isWritable, view } = useOpenSession();
  const { questions } = view;
  const box = useRef<HTMLDivElement>(null);
  const [first] = questions;
  const before = useRef(first?.id);
  useEffect(() => {
    const isFirst = before.current === undefined;
    before.current = first?.id;
    // Keeps the focus of a person who is typing; after an answer it moves to the next question or the box.
    if (document.activeElement !== document.body && document.activeElement?.id !== "main") return;
    if (first !== undefined) box.current?.querySelector<HTMLElement>("h2")?.focus();
    else if (!isFirst) box.current?.parentElement?.querySelector("textarea")?.focus();
  }, [first?.id]);
  return (
    <div ref={box}>
      <p class="hide" role="alert">
        {questions.length === 0 ? "" : words.questionsWait(questions.length)}
      </p>
      {first !== undefined && (
        <QuestionView
          key={first.id}
          question={first}
          all={questions.length}
          isWritable={isWritable}
          answer={async (answer) => {
            const reply = (): Promise<void> => reader.answer(first.id, { ...answer, sessionId: route.id });
            // Stopping stops the run, and the call with it. A run that ended to wait, or whose process
            // is gone, only accepts answers.
            const isStop = answer.choice === "stop" && first.type === "permission" && view.run !== undefined;
            const stop = (): Promise<void> =>
              reader.stop(route.id).catch((error: unknown) => {
                if (error instanceof ServerProblem && error.code === "not_running") return reply();
                throw error;
              });
            await work.attempt(isStop ? stop : reply);
          }}
        />
      )}
    </div>
  );
}

function Queue(): VNode | null {
  const words = useWords();
  const { queue, queueHeld } = useOpenSession().view;
  if (queue.length === 0) return null;
  return (
    <section aria-label={words.queue(queue.length)}>
      {queueHeld && <p class="status">{words.queueHeld}</p>}
      <ol class="queue">
        {queue.map(({ id, text }) => (
          <li key={id}>
            <span class="w">{words.afterThis}</span>
            <span class="cut grow">{terminalLine(text, 300)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

interface ComposerProps {
  readonly isRunning: boolean;
  /** Kept outside, because a question may replace the box. */
  readonly draft: string;
  readonly change: (draft: string) => void;
  /** Undefined if unknown. */
  readonly mode: string | undefined;
  readonly model: string;
  /** Resolves to false if the message was not sent: it stays in the box. */
  readonly send: (text: string, when: "now" | "after") => Promise<boolean>;
  readonly stop: () => void;
}

function Composer({ isRunning, draft, change, mode, model, send, stop }: ComposerProps): VNode {
  const words = useWords();
  const [isSending, setSending] = useState(false);
  const canSend = draft.trim() !== "" && !isSending;
  const submit = async (when: "now" | "after"): Promise<void> => {
    if (!canSend) return;
    setSending(true);
    if (await send(draft, when)) change("");
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Escape" && isRunning && draft === "") return stop();
    // An Enter that confirms an input method's suggestion is not for us.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit(event.altKey ? "after" : "now");
  };
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    void submit("now");
  };
  return (
    <form class={`box${mode === "bypass" ? " bypass" : ""}`} onSubmit={onSubmit}>
      <textarea
        aria-label={words.message}
        rows={Math.min(10, draft.split("\n").length)}
        value={draft}
        placeholder={isRunning ? words.messageHintRunning : words.messageHint}
        onInput={({ currentTarget }) => change(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="row">
        {mode !== undefined && (
          <span class={`chip mode-${mode}`}>
            <Icon name="auto" />
            {mode}
          </span>
        )}
        <span class="chip cut">{model}</span>
        <span class="end">
          <span class="hint">{isRunning ? words.enterSteers : words.enterSends}</span>
          {isRunning && canSend && <Button onClick={() => void submit("after")}>{words.afterThis}</Button>}
          {isRunning && (
            <Button kbd="Esc" onClick={stop}>
              {words.stop}
            </Button>
          )}
          {(!isRunning || canSend) && (
            <Button icon="send" type="submit" look="main round" name={words.send} disabled={!canSend} />
          )}
        </span>
      </div>
    </form>
  );
}

interface ItemListProps {
  /** All items at the first draw. */
  readonly items: readonly ViewItem[];
  /** Index of the item to show; undefined: the newest. */
  readonly itemIndex: number | undefined;
}

/** Maximum distance from the end at which new content is still followed. */
const NEAR_END_PX = 120;

/** Only a part of a long conversation is drawn; buttons load more. */
function ItemList({ items, itemIndex }: ItemListProps): VNode {
  const words = useWords();
  const [visible, setVisible] = useState(() => initialWindow(items.length, itemIndex));
  const list = useRef<HTMLDivElement>(null);
  const { isFollowing, isAway, setAway } = useFollowing(list, itemIndex === undefined);
  const target = itemIndex === undefined ? undefined : items[itemIndex]?.id;
  useLayoutEffect(() => {
    if (!isFollowing.current || visible.to !== undefined) return;
    setVisible(followingWindow(visible, items.length));
    const box = scrollerOf(list.current);
    box.scrollTo(0, box.scrollHeight);
  });
  useEffect(() => {
    if (target === undefined) return;
    const element = document.getElementById(`item-${target}`);
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  }, [target]);
  const after = visible.to === undefined ? 0 : items.length - visible.to;
  const toNewest = (): void => {
    isFollowing.current = true;
    setAway(false);
    setVisible(initialWindow(items.length));
  };
  return (
    <div ref={list}>
      {visible.from > 0 && (
        <Button look="load" onClick={() => setVisible(withEarlier(visible))}>
          {words.earlier(visible.from)}
        </Button>
      )}
      {items.length === 0 && <p class="talk soft">{words.empty}</p>}
      <Items items={items.slice(visible.from, visible.to)} marked={target} />
      {after > 0 && (
        <Button look="load" onClick={() => setVisible(withLater(visible, items.length))}>
          {words.later(after)}
        </Button>
      )}
      {(isAway || after > 0) && (
        <Button look="jump" onClick={toNewest}>
          {words.newest}
        </Button>
      )}
    </div>
  );
}

/** The scrolling element: a column on a wide page, the document on a narrow one. */
function scrollerOf(element: Element | null): Element {
  const box = element?.closest(".scroll");
  const isOwn = box != null && getComputedStyle(box).overflowY === "auto";
  return isOwn ? box : document.documentElement;
}

interface Following {
  /** True while the reader is at the end. */
  readonly isFollowing: { current: boolean };
  /** True once they are more than half a screen away from it. */
  readonly isAway: boolean;
  readonly setAway: (isAway: boolean) => void;
}

function useFollowing(list: { readonly current: Element | null }, initially: boolean): Following {
  const isFollowing = useRef(initially);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const onScroll = (): void => {
      const { scrollHeight, clientHeight, scrollTop } = scrollerOf(list.current);
      const distance = scrollHeight - clientHeight - scrollTop;
      isFollowing.current = distance < NEAR_END_PX;
      setAway(distance > clientHeight / 2);
    };
    const onResize = (): void => {
      const box = scrollerOf(list.current);
      if (isFollowing.current) box.scrollTo(0, box.scrollHeight);
    };
    // Captured, because scroll events of an element do not bubble.
    const options = { passive: true, capture: true };
    addEventListener("scroll", onScroll, options);
    addEventListener("resize", onResize);
    return () => {
      removeEventListener("scroll", onScroll, options);
      removeEventListener("resize", onResize);
    };
  }, []);
  return { isFollowing, isAway, setAway };
}

/** The index of the item that shows an entry, or of the first one after it. */
function itemIndexOf(items: readonly ViewItem[], entry: JournalEntry): number | undefined {
  const callId = "callId" in entry ? entry.callId : undefined;
  const own = items.findIndex(
    (item) => (item.type === "tool" && item.callId === callId) || item.id === entry.id,
  );
  const place = own === -1 ? items.findIndex(({ time }) => time >= entry.time) : own;
  return place === -1 ? undefined : place;
}

/** Items drawn at first, and added on each request for more. */
export const WINDOW_STEP = 120;

/** The part of a list that is drawn. `to` undefined: up to the newest, even as the list grows. */
interface VisibleWindow {
  readonly from: number;
  readonly to: number | undefined;
}

/** The newest items of a list, or those around a linked place. */
export function initialWindow(length: number, place?: number): VisibleWindow {
  if (place === undefined || place >= length - WINDOW_STEP)
    return { from: Math.max(0, length - WINDOW_STEP), to: undefined };
  const from = Math.max(0, place - WINDOW_STEP / 2);
  return { from, to: from + WINDOW_STEP };
}

export function withEarlier({ from, to }: VisibleWindow): VisibleWindow {
  return { from: Math.max(0, from - WINDOW_STEP), to };
}

export function withLater({ from, to }: VisibleWindow, length: number): VisibleWindow {
  const end = (to ?? length) + WINDOW_STEP;
  return { from, to: end >= length ? undefined : end };
}

/** The window while following the newest items: drops items far behind. */
export function followingWindow(shown: VisibleWindow, length: number): VisibleWindow {
  return length - shown.from > 4 * WINDOW_STEP ? initialWindow(length) : shown;
}
