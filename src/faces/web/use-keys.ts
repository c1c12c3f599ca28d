import { useEffect } from "preact/hooks";
import { useSettings } from "./settings.tsx";

/** True if a key types text, or belongs to the focused element. */
export function isTyping({ target, key }: KeyboardEvent): boolean {
  const buttons = key === " " ? ", button, a, summary" : "";
  return (
    target instanceof Element && target.closest(`input, textarea, select, [role=dialog]${buttons}`) !== null
  );
}

/** Actions of single keys; uppercase letters require Shift. */
export type KeyActions = { readonly [key: string]: () => void };

/** Handles single keys outside of fields while the component is shown. All but search can be turned off. */
export function useKeys(actions: KeyActions): void {
  const { keys } = useSettings();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      const isSearch = (ctrlKey || metaKey) && key === "k";
      if (defaultPrevented || (!isSearch && (ctrlKey || metaKey || altKey || isTyping(event)))) return;
      const action = actions[isSearch ? "/" : key];
      if (action === undefined || (keys === "off" && !isSearch)) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });
}

/** Goes to the box for a new session, filled with text. */
export function startNew(text = ""): void {
  if (!/^#?\/?(?:folder\/|$)/.test(location.hash)) location.hash = "#/";
  const focus = (framesLeft: number): void => {
    const box = document.querySelector<HTMLTextAreaElement>("[data-new-session]");
    if (box === null) {
      if (framesLeft > 0) requestAnimationFrame(() => focus(framesLeft - 1));
      return;
    }
    box.focus();
    if (text === "") return;
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };
  requestAnimationFrame(() => focus(30));
}

/** Moves the focus along the page's rows: sessions, or items of a conversation. */
export function moveRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".card, .sess, .talk > li")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const row = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}

/** Unfolds all calls of a conversation, or folds them if all are open. */
export function toggleCalls(): void {
  const calls = [...document.querySelectorAll<HTMLDetailsElement>(".talk details.step")];
  const isOpen = calls.every(({ open }) => open);
  for (const call of calls) call.open = !isOpen;
}
