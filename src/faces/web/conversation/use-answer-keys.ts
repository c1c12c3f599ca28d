import { useEffect, useRef, useState } from "preact/hooks";
import { isTyping } from "../use-keys.ts";

/** Keys that were pressed this soon were meant for something else. */
const EARLY_KEY_MS = 200;

/** Has the digits choose, from 1 on, and Escape leave. */
export function useAnswerKeys(choose: readonly (() => void)[], leave: () => void): void {
  const [shownAt] = useState(() => performance.now());
  const newest = useRef({ choose, leave });
  newest.current = { choose, leave };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, repeat, timeStamp } = event;
      if (ctrlKey || metaKey || altKey || repeat || timeStamp - shownAt < EARLY_KEY_MS) return;
      if (isTyping(event)) return;
      const chosen = key === "Escape" ? newest.current.leave : newest.current.choose[Number(key) - 1];
      if (chosen === undefined) return;
      event.preventDefault();
      chosen();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}
