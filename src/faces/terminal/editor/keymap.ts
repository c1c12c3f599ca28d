import { parseKeyName, type TerminalEvent } from "../tty/key.ts";
import { applyEdit, type Editor, insertText, isEditCommand } from "./editor.ts";

/** The key actions in the help's order: their default keys and their effect. */
export const ACTIONS = {
  send: { keys: ["enter"], does: "send; during a run, with its next request" },
  queue: { keys: ["alt+enter"], does: "send when the run has ended" },
  newline: { keys: ["shift+enter", "ctrl+j"], does: "new line (also \\ enter)" },
  "take-back": { keys: ["alt+up"], does: "take the newest queued message back (alt+1-9: that one)" },
  "queue-list": { keys: ["alt+q"], does: "change, move, drop or send queued messages" },
  escape: { keys: ["escape"], does: "stop the run; twice on an empty input: rewind" },
  mode: { keys: ["shift+tab"], does: "next mode: auto, ask, plan" },
  complete: { keys: ["tab"], does: "complete" },
  "search-history": { keys: ["ctrl+r"], does: "search the input history" },
  details: { keys: ["ctrl+o"], does: "details of calls and thinking" },
  plan: { keys: ["alt+p"], does: "the plan that was approved" },
  editor: { keys: ["ctrl+g"], does: "write in $VISUAL or $EDITOR" },
  image: { keys: ["ctrl+v"], does: "attach the image of the clipboard" },
  interrupt: { keys: ["ctrl+c"], does: "clear the input, stop the run; twice: leave" },
  leave: { keys: ["ctrl+d"], does: "leave, on an empty input; else delete a character" },
  suspend: { keys: ["ctrl+z"], does: "to the shell (fg comes back)" },
  redraw: { keys: ["ctrl+l"], does: "redraw the screen" },
  up: { keys: ["up", "ctrl+p"], does: "up, or the message before" },
  down: { keys: ["down", "ctrl+n"], does: "down, or the message after" },
  left: { keys: ["left", "ctrl+b"], does: "left" },
  right: { keys: ["right", "ctrl+f"], does: "right" },
  "word-left": { keys: ["alt+b", "alt+left", "ctrl+left"], does: "a word left" },
  "word-right": { keys: ["alt+f", "alt+right", "ctrl+right"], does: "a word right" },
  "line-start": { keys: ["ctrl+a", "home"], does: "beginning of the line" },
  "line-end": { keys: ["ctrl+e", "end"], does: "end of the line" },
  "delete-left": { keys: ["backspace", "shift+backspace", "ctrl+h"], does: "delete to the left" },
  "delete-right": { keys: ["delete"], does: "delete to the right" },
  "delete-word-left": { keys: ["ctrl+w", "alt+backspace", "ctrl+backspace"], does: "cut the word before" },
  "delete-word-right": { keys: ["alt+d"], does: "cut the next word" },
  "kill-to-end": { keys: ["ctrl+k"], does: "cut to the end of the line" },
  "kill-to-start": { keys: ["ctrl+u"], does: "cut to the beginning of the line" },
  yank: { keys: ["ctrl+y"], does: "paste what was cut" },
  undo: { keys: ["ctrl+_", "ctrl+-", "ctrl+/"], does: "undo typing" },
  redo: { keys: ["alt+_", "alt+-"], does: "redo typing" },
} as const;

export type KeyAction = keyof typeof ACTIONS;

const DEFAULT_KEYS: ReadonlyMap<KeyAction, readonly string[]> = new Map(
  (Object.keys(ACTIONS) as KeyAction[]).map((name) => [name, ACTIONS[name].keys]),
);

/** Keys in a configuration: one or several per action; `[]` removes them all. */
export type KeyConfig = { readonly [action: string]: string | readonly string[] };

export interface Keymap {
  readonly actionOf: ReadonlyMap<string, KeyAction>;
  readonly keysOf: ReadonlyMap<KeyAction, readonly string[]>;
  readonly problems: readonly string[];
}

/** The effective keys: the defaults, overridden by the configuration. */
export function keymapOf(config: KeyConfig = {}): Keymap {
  const problems: string[] = [];
  const actionOf = new Map<string, KeyAction>();
  const keysOf = new Map<KeyAction, readonly string[]>();
  const configured = new Map<KeyAction, readonly string[]>();
  for (const [name, given] of Object.entries(config)) {
    if (!isAction(name)) {
      problems.push(`keys.${name}: there is no such action. Known: ${Object.keys(ACTIONS).join(", ")}.`);
      continue;
    }
    const keys = (typeof given === "string" ? [given] : given).flatMap((written) => {
      const key = parseKeyName(written);
      if (key === undefined)
        problems.push(
          `keys.${name}: ${JSON.stringify(written)} names no key. Write it like "ctrl+s" or "alt+enter".`,
        );
      return key === undefined ? [] : [key];
    });
    configured.set(name, keys);
  }
  const taken = new Set([...configured.values()].flat());
  for (const [name, defaults] of DEFAULT_KEYS) {
    const keys = configured.get(name) ?? defaults.filter((key) => !taken.has(key));
    keysOf.set(name, keys);
    for (const key of keys) actionOf.set(key, name);
  }
  return { actionOf, keysOf, problems };
}

function isAction(name: string): name is KeyAction {
  return Object.hasOwn(ACTIONS, name);
}

/** A one-line text after a key press; the same text if the key does nothing to it. */
export function editLine(editor: Editor, event: TerminalEvent): Editor {
  if (event.type === "text" || event.type === "paste")
    return insertText(editor, event.text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " "));
  if (event.type !== "key") return editor;
  const [name] = [...DEFAULT_KEYS].find(([, keys]) => keys.includes(event.key)) ?? ["newline"];
  return isEditCommand(name) && name !== "newline" ? applyEdit(editor, name) : editor;
}
