import { StringDecoder } from "node:string_decoder";
import { ownValue } from "../../../core/base/json.ts";

export type TerminalEvent =
  | { readonly type: "key"; readonly key: string }
  /** Letters as typed; several if they arrived together. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "paste"; readonly text: string }
  /** The terminal's reply to a query of ours, without its frame: `]11;rgb:…`, `[?1u`, `[?62c`. */
  | { readonly type: "reply"; readonly text: string };

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface TerminalListener {
  readonly onEvent: (event: TerminalEvent) => void;
  readonly onResize: (size: Size) => void;
  /** The terminal is gone: closed, or its connection lost. */
  readonly onGone: () => void;
}

/** Bits of a key's modifier parameter. */
const MODIFIERS: readonly (readonly [bit: number, name: string])[] = [
  [4, "ctrl"],
  [2, "alt"],
  [1, "shift"],
  [8, "super"],
];

/** A key's name with modifiers: `ctrl+alt+x`. `modifiers` as terminals count them, minus the one they add. */
function keyName(key: string, modifiers: number): string {
  const names = MODIFIERS.filter(([bit]) => (modifiers & bit) !== 0).map(([, name]) => name);
  return [...names, key].join("+");
}

/** Converts `Ctrl-X`, `control+x` and `^X` to `ctrl+x`. Undefined if it is not a key. */
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

/** Maximum characters of a paste; the rest is dropped. */
const MAX_PASTE = 10_000_000;
/** A sequence longer than this is not one. */
const MAX_SEQUENCE = 4_096;

const ESC = "\u001B";
const PASTE_END = `${ESC}[201~`;

/** Parses terminal bytes, wherever they are split. The start of a sequence never becomes text. */
export class KeyDecoder {
  readonly #bytes = new StringDecoder("utf8");
  #text = "";
  #paste: string[] | undefined;
  #pasted = 0;

  /** True if an unfinished sequence is pending; {@link flush} takes it as it is. */
  get isWaiting(): boolean {
    return this.#text !== "" && this.#paste === undefined;
  }

  push(bytes: Uint8Array): readonly TerminalEvent[] {
    this.#text += this.#bytes.write(bytes);
    return this.#read(false);
  }

  /** After a pause: a lone escape is the key, other unfinished sequences are dropped. */
  flush(): readonly TerminalEvent[] {
    return this.#paste === undefined ? this.#read(true) : [];
  }

  #read(isEnd: boolean): readonly TerminalEvent[] {
    const events: TerminalEvent[] = [];
    while (this.#text !== "") {
      const before = this.#text.length;
      if (this.#paste !== undefined) this.#readPaste(events);
      else if (this.#text.startsWith(ESC)) this.#readSequence(events, isEnd);
      else this.#readPlain(events);
      if (this.#text.length === before) break;
    }
    return events;
  }

  #readPlain(events: TerminalEvent[]): void {
    const text = /^[^\p{Cc}]+/u.exec(this.#text)?.[0];
    if (text !== undefined) {
      this.#text = this.#text.slice(text.length);
      events.push({ type: "text", text });
      return;
    }
    const code = this.#text.charCodeAt(0);
    this.#text = this.#text.slice(1);
    const key = controlKey(code);
    if (key !== undefined) events.push({ type: "key", key });
  }

  #readPaste(events: TerminalEvent[]): void {
    const paste = this.#paste ?? [];
    const end = this.#text.indexOf(PASTE_END);
    // The end of a paste may be split anywhere.
    const safe = end >= 0 ? end : this.#text.length - overlap(this.#text, PASTE_END);
    const room = MAX_PASTE - this.#pasted;
    if (safe > 0 && room > 0) paste.push(this.#text.slice(0, Math.min(safe, room)));
    this.#pasted += safe;
    this.#text = this.#text.slice(safe);
    if (end < 0) return;
    this.#text = this.#text.slice(PASTE_END.length);
    this.#paste = undefined;
    this.#pasted = 0;
    events.push({ type: "paste", text: paste.join("") });
  }

  #readSequence(events: TerminalEvent[], isEnd: boolean): void {
    const text = this.#text;
    const found = sequenceIn(text);
    if (found !== undefined) {
      this.#text = text.slice(found.length);
      if (found.event === "paste") this.#paste = [];
      else if (found.event !== undefined) events.push(found.event);
      return;
    }
    if (!isEnd && text.length < MAX_SEQUENCE) return;
    // A key, or a sequence that never continued.
    this.#text = "";
    if (text.length <= 2)
      events.push({ type: "key", key: text === ESC ? "escape" : keyName(text.slice(1), 2) });
  }
}

/** Starts of sequences that run to a terminator, after the escape. */
const STRING_STARTS = "]P_^X";

interface Sequence {
  readonly length: number;
  readonly event?: TerminalEvent | "paste" | undefined;
}

function sequenceIn(text: string): Sequence | undefined {
  const second = text[1];
  if (second !== undefined && STRING_STARTS.includes(second)) return stringIn(text);
  switch (second) {
    case undefined:
      return undefined;
    case "[":
      return csiIn(text);
    case "O": {
      const final = text[2];
      if (final === undefined) return undefined;
      const key = FINAL_KEYS[final];
      return { length: 3, event: key === undefined ? undefined : { type: "key", key } };
    }
    case ESC: {
      // Alt with a key that is a sequence itself, or Escape twice.
      const inner = /^\u001B[[O]/.test(text.slice(1)) ? sequenceIn(text.slice(1)) : undefined;
      if (inner?.event !== undefined && inner.event !== "paste" && inner.event.type === "key")
        return { length: 1 + inner.length, event: { type: "key", key: `alt+${inner.event.key}` } };
      return { length: 1, event: { type: "key", key: "escape" } };
    }
    default:
      return altIn(text);
  }
}

function altIn(text: string): Sequence {
  const char = String.fromCodePoint(text.codePointAt(1) ?? 0);
  const length = 1 + char.length;
  const code = char.charCodeAt(0);
  const key = code < 0x20 || code === 0x7f ? controlKey(code) : char === " " ? "space" : undefined;
  if (key !== undefined)
    return {
      length,
      event: { type: "key", key: key.startsWith("ctrl+") ? `ctrl+alt+${key.slice(5)}` : `alt+${key}` },
    };
  const lower = char.toLowerCase();
  return { length, event: { type: "key", key: keyName(lower, lower === char ? 2 : 3) } };
}

function stringIn(text: string): Sequence | undefined {
  const end = /\u0007|\u001B\\|\u009C/.exec(text.slice(2));
  if (end === null) return undefined;
  const length = 2 + end.index + end[0].length;
  return { length, event: { type: "reply", text: text.slice(1, 2 + end.index) } };
}

function csiIn(text: string): Sequence | undefined {
  const match = /^\u001B\[([<=>?]?)([\d;:]*)([ -/]*)([@-~])/.exec(text);
  if (match === null) {
    // The bracket was typed.
    if (/^\u001B\[[<=>?]?[\d;:]*[ -/]*[^\d;:<=>? -/@-~]/.test(text)) return { length: 2 };
    return undefined;
  }
  const [whole, mark = "", parameters = "", , final = ""] = match;
  const length = whole.length;
  if (mark !== "" || final === "c" || final === "R" || final === "t" || final === "n" || final === "y")
    return { length, event: { type: "reply", text: whole.slice(1) } };
  if (final === "~" && parameters === "200") return { length, event: "paste" };
  const event = keyOf(parameters, final);
  return { length, event };
}

function keyOf(parameters: string, final: string): TerminalEvent | undefined {
  const fields = parameters.split(";").map((field) => field.split(":").map(Number));
  const [first = 1] = fields[0] ?? [];
  const modifiers = modifiersOf(fields[1]);
  if (modifiers === undefined) return undefined;
  if (final === "u") return codeKey(first, modifiers);
  if (final === "~" && first === 27) return codeKey(fields[2]?.[0] ?? 0, modifiers);
  if (final === "Z") return { type: "key", key: "shift+tab" };
  const key = final === "~" ? TILDE_KEYS[first] : FINAL_KEYS[final];
  return key === undefined ? undefined : { type: "key", key: keyName(key, modifiers) };
}

/** A key's modifiers as bits; undefined when it is released. */
function modifiersOf([given = 1, kind = 1]: readonly number[] = []): number | undefined {
  if (kind === 3) return undefined;
  return Math.max(0, (Number.isNaN(given) || given === 0 ? 1 : given) - 1) & 15;
}

/** A key by its code point, in the protocols that report every key with its modifiers. */
function codeKey(given: number, modifiers: number): TerminalEvent | undefined {
  const code = NUMBER_PAD_TEXT.codePointAt(given - NUMBER_PAD) ?? given;
  if (code === 0x20 && (modifiers & ~1) === 0) return { type: "text", text: " " };
  const named = CODE_KEYS[code];
  if (named !== undefined) return { type: "key", key: keyName(named, modifiers) };
  if (!Number.isInteger(code) || code < 0x20 || code > 0x10ffff || (code >= 0xe000 && code <= 0xf8ff))
    return undefined;
  if (code >= 0xd800 && code < 0xe000) return undefined;
  const char = String.fromCodePoint(code);
  if ((modifiers & ~1) === 0)
    return { type: "text", text: (modifiers & 1) !== 0 ? char.toUpperCase() : char };
  return { type: "key", key: keyName(char.toLowerCase(), modifiers) };
}

function controlKey(code: number): string | undefined {
  switch (code) {
    case 0x0d:
      return "enter";
    case 0x09:
      return "tab";
    case 0x7f:
    case 0x08:
      return "backspace";
    case 0x00:
      return "ctrl+space";
    case 0x1f:
      return "ctrl+_";
    default:
      if (code < 0x1b) return `ctrl+${String.fromCharCode(code + 0x60)}`;
      return code < 0x20 ? `ctrl+${String.fromCharCode(code + 0x40).toLowerCase()}` : undefined;
  }
}

/** Length of the longest end of `text` that starts `other`. */
function overlap(text: string, other: string): number {
  for (let length = Math.min(text.length, other.length - 1); length > 0; length--)
    if (text.endsWith(other.slice(0, length))) return length;
  return 0;
}

const FINAL_KEYS: { readonly [final: string]: string } = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  M: "enter",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
};

const TILDE_KEYS: { readonly [code: number]: string } = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
};

const CODE_KEYS: { readonly [code: number]: string } = {
  8: "backspace",
  9: "tab",
  13: "enter",
  27: "escape",
  32: "space",
  127: "backspace",
  57_414: "enter",
  57_417: "left",
  57_418: "right",
  57_419: "up",
  57_420: "down",
  57_421: "pageup",
  57_422: "pagedown",
  57_423: "home",
  57_424: "end",
  57_425: "insert",
  57_426: "delete",
};

/** The first number-pad key in kitty's protocol, and the characters of the keys from there on. */
const NUMBER_PAD = 57_399;
const NUMBER_PAD_TEXT = "0123456789./*-+\r=,";
