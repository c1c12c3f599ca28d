import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface MenuProps {
  /** The content of the button, and its name where that is none. */
  readonly label: ComponentChildren;
  readonly name?: string;
  /** Classes of the button, and of all: `up`, `left`. */
  readonly look: string;
  readonly place?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens what stands below it until a choice, Escape, or a click elsewhere. */
export function Menu({ label, name, look, place = "", children }: MenuProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return undefined;
    const leave = ({ target }: Event): void => {
      if (!box.current?.contains(target as Node)) setOpen(false);
    };
    for (const type of ["pointerdown", "focusin"]) addEventListener(type, leave);
    return () => {
      for (const type of ["pointerdown", "focusin"]) removeEventListener(type, leave);
      // Whoever chose with the keyboard goes on from the button.
      if (document.activeElement === document.body) box.current?.querySelector("button")?.focus();
    };
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !isOpen) return;
    event.stopPropagation();
    setOpen(false);
  };
  return (
    <div class={`menu ${place}`} role="presentation" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={look}
        aria-label={name}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {label}
      </button>
      {isOpen && <div class="pop">{children(() => setOpen(false))}</div>}
    </div>
  );
}
