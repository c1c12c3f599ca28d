import { parseKeyName } from "../terminal/key.ts";
import type { EditCommand } from "./editor.ts";

/** What a key can do beside editing. */
export type ScreenAction =
  | "send"
  | "queue"
  | "take-back"
  | "queue-list"
  | "mode"
  | "complete"
  | "escape"
  | "interrupt"
  | "leave"
  | "suspend"
  | "redraw"
  | "editor"
  | "image"
  | "details"
  | "search-history";

/** Everything a key can be bound to. */
export type KeyAction = EditCommand | ScreenAction;

/** The keys of each action as they are without configuration, in the order the help shows them. */
export const DEFAULT_KEYS: { readonly [action in KeyAction]: readonly string[] } = {
  send: ["enter"],
  queue: ["alt+enter"],
  newline: ["shift+enter", "ctrl+j"],
  "take-back": ["alt+up"],
  "queue-list": ["alt+q"],
  escape: ["escape"],
  mode: ["shift+tab"],
  complete: ["tab"],
  "search-history": ["ctrl+r"],
  details: ["ctrl+o"],
  editor: ["ctrl+g"],
  image: ["ctrl+v"],
  interrupt: ["ctrl+c"],
  leave: ["ctrl+d"],
  suspend: ["ctrl+z"],
  redraw: ["ctrl+l"],
  up: ["up", "ctrl+p"],
  down: ["down", "ctrl+n"],
  left: ["left", "ctrl+b"],
  right: ["right", "ctrl+f"],
  "word-left": ["alt+b", "alt+left", "ctrl+left"],
  "word-right": ["alt+f", "alt+right", "ctrl+right"],
  "line-start": ["ctrl+a", "home"],
  "line-end": ["ctrl+e", "end"],
  "delete-left": ["backspace", "shift+backspace", "ctrl+h"],
  "delete-right": ["delete"],
  "delete-word-left": ["ctrl+w", "alt+backspace", "ctrl+backspace"],
  "delete-word-right": ["alt+d"],
  "kill-to-end": ["ctrl+k"],
  "kill-to-start": ["ctrl+u"],
  yank: ["ctrl+y"],
  undo: ["ctrl+_", "ctrl+-", "ctrl+/"],
  redo: ["alt+_", "alt+-"],
};

/** What each action does, for the help. */
export const ACTION_WORDS: { readonly [action in KeyAction]: string } = {
  send: "send; while a run is at work, with its next request",
  queue: "send when the run has ended",
  newline: "new line (also \\ enter)",
  "take-back": "take the newest queued message back (alt+1…9: that one)",
  "queue-list": "change, move, drop or send queued messages",
  escape: "stop the run; twice on an empty input: rewind",
  mode: "next permission mode",
  complete: "complete",
  "search-history": "search what was typed before",
  details: "details of calls and thinking",
  editor: "write in $VISUAL or $EDITOR",
  image: "attach the image of the clipboard",
  interrupt: "clear the input, stop the run; twice: leave",
  leave: "leave, on an empty input; else delete a character",
  suspend: "to the shell (fg comes back)",
  redraw: "draw the screen anew",
  up: "up, or the message before",
  down: "down, or the message after",
  left: "left",
  right: "right",
  "word-left": "a word left",
  "word-right": "a word right",
  "line-start": "beginning of the line",
  "line-end": "end of the line",
  "delete-left": "delete to the left",
  "delete-right": "delete to the right",
  "delete-word-left": "cut the word before",
  "delete-word-right": "cut the word behind",
  "kill-to-end": "cut to the end of the line",
  "kill-to-start": "cut to the beginning of the line",
  yank: "put back what was cut",
  undo: "undo typing",
  redo: "redo typing",
};

/** Keys as a configuration has them: one or several for an action; `[]` takes them all away. */
export type KeyConfig = { readonly [action: string]: string | readonly string[] };

/** Which action a key stands for, and what in the configuration could not be used, in sentences. */
export interface Keymap {
  readonly actionOf: ReadonlyMap<string, KeyAction>;
  readonly keysOf: ReadonlyMap<KeyAction, readonly string[]>;
  readonly faults: readonly string[];
}

/** The keys that hold: the usual ones, and over them those of the configuration. */
export function keymapOf(config: KeyConfig = {}): Keymap {
  const faults: string[] = [];
  const actionOf = new Map<string, KeyAction>();
  const keysOf = new Map<KeyAction, readonly string[]>();
  const own = new Map<KeyAction, readonly string[]>();
  for (const [name, given] of Object.entries(config)) {
    if (!isAction(name)) {
      faults.push(`keys.${name}: there is no such action. Known: ${Object.keys(DEFAULT_KEYS).join(", ")}.`);
      continue;
    }
    const keys = (typeof given === "string" ? [given] : given).flatMap((written) => {
      const key = parseKeyName(written);
      if (key === undefined)
        faults.push(
          `keys.${name}: ${JSON.stringify(written)} names no key. Write it like "ctrl+s" or "alt+enter".`,
        );
      return key === undefined ? [] : [key];
    });
    own.set(name, keys);
  }
  const taken = new Set([...own.values()].flat());
  for (const [name, usual] of Object.entries(DEFAULT_KEYS)) {
    if (!isAction(name)) continue;
    const keys = own.get(name) ?? usual.filter((key) => !taken.has(key));
    keysOf.set(name, keys);
    for (const key of keys) actionOf.set(key, name);
  }
  return { actionOf, keysOf, faults };
}

function isAction(name: string): name is KeyAction {
  return Object.hasOwn(DEFAULT_KEYS, name);
}

/** Whether an action changes the text or moves the caret in it. */
export function isEditing(action: KeyAction): action is EditCommand {
  return EDITING.has(action);
}

const EDITING: ReadonlySet<KeyAction> = new Set<KeyAction>([
  "left",
  "right",
  "word-left",
  "word-right",
  "line-start",
  "line-end",
  "up",
  "down",
  "delete-left",
  "delete-right",
  "delete-word-left",
  "delete-word-right",
  "kill-to-end",
  "kill-to-start",
  "yank",
  "undo",
  "redo",
  "newline",
]);
