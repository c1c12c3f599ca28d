import { applyEdit, type EditCommand, type Editor } from "./editor.ts";

/** A text of one line after a key; the same when the key does nothing to it. */
export function editLine(editor: Editor, key: string): Editor {
  const command = KEYS[key];
  return command === undefined ? editor : applyEdit(editor, command);
}

const KEYS: { readonly [key: string]: EditCommand | undefined } = {
  backspace: "delete-left",
  left: "left",
  right: "right",
  home: "line-start",
  end: "line-end",
  "ctrl+a": "line-start",
  "ctrl+e": "line-end",
  "ctrl+u": "kill-to-start",
  "ctrl+w": "delete-word-left",
  "ctrl+k": "kill-to-end",
  "alt+b": "word-left",
  "alt+f": "word-right",
};
