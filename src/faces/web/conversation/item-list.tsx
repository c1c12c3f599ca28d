import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ViewItem } from "../../../app/coding-session/view.ts";
import { useWords } from "../language/language.ts";
import { Items } from "./item-view.tsx";
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
  const isFollowing = useFollowing(place === undefined);
  const target = place === undefined ? undefined : items[place]?.id;
  useLayoutEffect(() => {
    if (!isFollowing.current || shown.to !== undefined) return;
    setShown(slidWindow(shown, items.length));
    scrollTo(0, document.documentElement.scrollHeight);
  });
  useEffect(() => {
    if (target === undefined) return;
    const element = document.getElementById(`item-${target}`);
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  }, [target]);
  const after = shown.to === undefined ? 0 : items.length - shown.to;
  return (
    <>
      {shown.from > 0 && (
        <button type="button" class="wide" onClick={() => setShown(withEarlier(shown))}>
          {words.earlier(shown.from)}
        </button>
      )}
      {items.length === 0 && <p class="soft">{words.empty}</p>}
      <Items items={items.slice(shown.from, shown.to)} marked={target} />
      {after > 0 && (
        <p class="row">
          <button type="button" onClick={() => setShown(withLater(shown, items.length))}>
            {words.later(after)}
          </button>
          <button
            type="button"
            onClick={() => {
              isFollowing.current = true;
              setShown(openWindow(items.length));
            }}
          >
            {words.newest}
          </button>
        </p>
      )}
    </>
  );
}

/** True as long as the reader stands at the end of the page. */
function useFollowing(initially: boolean): { current: boolean } {
  const isFollowing = useRef(initially);
  useEffect(() => {
    const look = (): void => {
      const { scrollHeight } = document.documentElement;
      isFollowing.current = scrollHeight - innerHeight - scrollY < NEAR_END;
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  return isFollowing;
}
