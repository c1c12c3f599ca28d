import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { JournalEntry } from "../../../core/agent/entries.ts";
import type { ViewItem } from "../../../view/view.ts";
import { useWords } from "../language/language.ts";
import { Items } from "./block-view.tsx";
import { openWindow, slidWindow, withEarlier, withLater } from "./shown-window.ts";

interface ItemListProps {
  /** All that there are when it is drawn first. */
  readonly items: readonly ViewItem[];
  /** Place of the item to lead to; undefined: the newest. */
  readonly place: number | undefined;
}

/** How near to the end of the page a reader is who wants to see what comes. */
const NEAR_END = 120;

/** The items of a conversation. Of a long one a part is drawn; more follows when it is asked for. */
export function ItemList({ items, place }: ItemListProps): VNode {
  const words = useWords();
  const [shown, setShown] = useState(() => openWindow(items.length, place));
  const list = useRef<HTMLDivElement>(null);
  const { isFollowing, isAway, setAway } = useFollowing(list, place === undefined);
  const target = place === undefined ? undefined : items[place]?.id;
  useLayoutEffect(() => {
    if (!isFollowing.current || shown.to !== undefined) return;
    setShown(slidWindow(shown, items.length));
    const box = scrollerOf(list.current);
    box.scrollTo(0, box.scrollHeight);
  });
  useEffect(() => {
    if (target === undefined) return;
    const element = document.getElementById(`item-${target}`);
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  }, [target]);
  const after = shown.to === undefined ? 0 : items.length - shown.to;
  const toNewest = (): void => {
    isFollowing.current = true;
    setAway(false);
    setShown(openWindow(items.length));
  };
  return (
    <div ref={list}>
      {shown.from > 0 && (
        <button type="button" class="btn load" onClick={() => setShown(withEarlier(shown))}>
          {words.earlier(shown.from)}
        </button>
      )}
      {items.length === 0 && <p class="talk soft">{words.empty}</p>}
      <Items items={items.slice(shown.from, shown.to)} marked={target} />
      {after > 0 && (
        <button type="button" class="btn load" onClick={() => setShown(withLater(shown, items.length))}>
          {words.later(after)}
        </button>
      )}
      {(isAway || after > 0) && (
        <button type="button" class="btn jump" onClick={toNewest}>
          {words.newest}
        </button>
      )}
    </div>
  );
}

/** The scroller around an element: a part of a wide page, all of a narrow one. */
function scrollerOf(element: Element | null): Element {
  const box = element?.closest(".scroll");
  const isOwn = box != null && getComputedStyle(box).overflowY === "auto";
  return isOwn ? box : document.documentElement;
}

interface Following {
  /** True as long as the reader stands at the end. */
  readonly isFollowing: { current: boolean };
  /** True once they have gone more than a screen away from it. */
  readonly isAway: boolean;
  readonly setAway: (isAway: boolean) => void;
}

function useFollowing(list: { readonly current: Element | null }, initially: boolean): Following {
  const isFollowing = useRef(initially);
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight, clientHeight, scrollTop } = scrollerOf(list.current);
      const left = scrollHeight - clientHeight - scrollTop;
      isFollowing.current = left < NEAR_END;
      setAway(left > clientHeight / 2);
    };
    // Captured: of a part of the page it does not bubble.
    const options = { passive: true, capture: true };
    addEventListener("scroll", look, options);
    return () => removeEventListener("scroll", look, options);
  }, []);
  return { isFollowing, isAway, setAway };
}

/** The place of the item that shows an entry, or of the first one after it. */
export function placeOfEntry(items: readonly ViewItem[], entry: JournalEntry): number | undefined {
  const callId = "callId" in entry ? entry.callId : undefined;
  const own = items.findIndex(
    (item) => (item.type === "tool" && item.callId === callId) || item.id === entry.id,
  );
  const place = own === -1 ? items.findIndex(({ time }) => time >= entry.time) : own;
  return place === -1 ? undefined : place;
}
