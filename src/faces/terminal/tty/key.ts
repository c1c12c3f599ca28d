import { ownValue } from "../../../core/base/json.ts";
/** One key press, or what else comes from a terminal. */
export type TerminalEvent =
  | { readonly type: "key"; readonly key: string }
  /** Letters as they were typed; several where they came at once. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  /** The terminal's answer to a question of ours, without its frame: `]11;rgb:…`, `[?1u`, `[?62c`. */
  | { readonly type: "reply"; readonly text: string };

/** Size of a terminal. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** Gets what comes from a terminal. */
export interface TerminalListener {
  readonly onEvent: (event: TerminalEvent) => void;
  readonly onResize: (size: Size) => void;
  /** The terminal is gone: closed, or the connection to it is lost. */
  readonly onGone: () => void;
}

/** Bits of the modifier parameter of a key. */
const MODIFIERS: readonly (readonly [bit: number, name: string])[] = [
  [4, "ctrl"],
  [2, "alt"],
  [1, "shift"],
  [8, "super"],
];

/** A key's name with modifiers: `ctrl+alt+x`. `modifiers` as terminals count them, less the one they add. */
export function keyName(key: string, modifiers: number): string {
  const names = MODIFIERS.filter(([bit]) => (modifiers & bit) !== 0).map(([, name]) => name);
  return [...names, key].join("+");
}

/** A key in the form of {@link keyName}: `Ctrl-X`, `control+x`, `^X` are `ctrl+x`. Undefined: no key. */
export function parseKeyName(written: string): string | undefined {
  const text = written
    .trim()
    .toLowerCase()
    .replace(/^\^(?=.$)/, "ctrl+");
  const parts = text.split(/(?<=[^+-])[+-]/);
  const key = parts.pop() ?? "";
  let modifiers = 0;
  for (const part of parts) {
    const name = ownValue(SPELLINGS, part) ?? part;
    const bit = MODIFIERS.find(([, known]) => known === name)?.[0];
    if (bit === undefined) return undefined;
    modifiers |= bit;
  }
  const named = ownValue(SPELLINGS, key) ?? key;
  return [...named].length === 1 || NAMED_KEYS.has(named) || /^f\d\d?$/.test(named)
    ? keyName(named, modifiers)
    : undefined;
}

const SPELLINGS: { readonly [written: string]: string } = {
  control: "ctrl",
  c: "c",
  meta: "alt",
  option: "alt",
  opt: "alt",
  cmd: "super",
  return: "enter",
  esc: "escape",
  del: "delete",
  pgup: "pageup",
  pgdn: "pagedown",
  spacebar: "space",
};

const NAMED_KEYS: ReadonlySet<string> = new Set(
  "enter escape tab space backspace delete insert up down left right home end pageup pagedown".split(" "),
);
