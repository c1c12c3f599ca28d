import { useEffect } from "preact/hooks";

/** True where a key writes, or belongs to what has the focus. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof Element && target.closest("input, textarea, select, [role=dialog]") !== null;
}

/** Single keys for going about: `/` and Ctrl+K search, `n` begins a session, `b` leads back to the list. */
export function useKeys({ find }: { readonly find: () => void }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey } = event;
      const isSearch = (ctrlKey || metaKey) && key === "k";
      if (!isSearch && (ctrlKey || metaKey || altKey || isTyping(event))) return;
      if (isSearch || key === "/") find();
      else if (key === "n") startNew();
      else if (key === "b") location.hash = "#/";
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

/** Leads to the box for a new session. */
export function startNew(): void {
  if (!/^#?\/?(?:folder\/|$)/.test(location.hash)) location.hash = "#/";
  const focus = (left: number): void => {
    const box = document.querySelector<HTMLElement>("[data-new-session]");
    if (box !== null) box.focus();
    else if (left > 0) requestAnimationFrame(() => focus(left - 1));
  };
  requestAnimationFrame(() => focus(30));
}
