import { type ComponentChildren, type ComponentProps, Fragment, type VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionView } from "../../../view/view.ts";
import { useLanguage, useWords } from "../language/language.ts";
import { Icon, type IconName } from "./icons.tsx";

interface ButtonProps extends Omit<ComponentProps<"button">, "class" | "name" | "icon"> {
  readonly look?: string;
  readonly icon?: IconName;
  /** Accessible name of a button without text. */
  readonly name?: string;
  readonly kbd?: string;
}

export function Button({ look = "", icon, name, kbd, children, ...rest }: ButtonProps): VNode {
  return (
    <button type="button" class={`btn ${look}`.trim()} aria-label={name} {...rest}>
      {icon !== undefined && <Icon name={icon} />}
      {children}
      {kbd !== undefined && <kbd>{kbd}</kbd>}
    </button>
  );
}

export function CopyButton({ text, children, ...rest }: ButtonProps & { readonly text: string }): VNode {
  const words = useWords();
  const [copied, setCopied] = useState("");
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => setCopied(""),
    );
  };
  return (
    <Button look="small" {...rest} onClick={copy}>
      {copied === text && text !== "" ? words.copied : (children ?? words.copy)}
    </Button>
  );
}

interface SegmentsProps<T extends string | number | boolean> {
  readonly label: string;
  readonly options: readonly T[];
  readonly nameOf: (option: T) => string;
  readonly value: T;
  readonly choose: (option: T) => void;
}

export function Segments<T extends string | number | boolean>(props: SegmentsProps<T>): VNode {
  const { label, options, nameOf, value, choose } = props;
  return (
    <span class="seg" role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={String(option)}
          type="button"
          aria-pressed={option === value}
          onClick={() => choose(option)}
        >
          {nameOf(option)}
        </button>
      ))}
    </span>
  );
}

interface PartProps {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children?: ComponentChildren;
}

export function Part({ title, aside, children }: PartProps): VNode {
  return (
    <section>
      <h2>
        {title}
        {aside !== undefined && <span class="num">{aside}</span>}
      </h2>
      {children}
    </section>
  );
}

/** Names with their values; omits undefined and empty ones. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }): VNode {
  return (
    <dl class="facts num">
      {rows
        .filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd class="cut">{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}

/** A dash if the cost is unknown or nothing was used yet. */
export function Money({
  spent: { usage, costUsd: usd },
}: {
  readonly spent: Pick<SessionView, "usage" | "costUsd">;
}): VNode {
  const { words, money } = useLanguage();
  return usd === undefined || usage.inputTokens + usage.outputTokens === 0 ? (
    <abbr title={words.costUnknown}>—</abbr>
  ) : (
    <>{money(usd)}</>
  );
}

interface MenuProps {
  /** The button's content; also its name, if that is text. */
  readonly label: ComponentChildren;
  readonly name?: string;
  /** Classes of the button, and of the menu: `up`, `left`. */
  readonly look: string;
  readonly place?: string;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens its contents below until a choice, Escape, or a click elsewhere. */
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
      // After a choice by keyboard the focus returns to the button.
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
