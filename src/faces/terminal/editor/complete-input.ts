import type { Editor } from "./editor.ts";
import { candidatesOf, fuzzyBest } from "./fuzzy.ts";

/** Something that can stand in the place of what was typed. */
export interface CompletionItem {
  readonly label: string;
  readonly note?: string | undefined;
  readonly text: string;
}

/** The offers for the word at the caret. */
export interface Completion {
  readonly items: readonly CompletionItem[];
  readonly from: number;
  readonly to: number;
}

/** Where completions come from. */
export interface CompletionSources {
  readonly files: (query: string, limit: number) => readonly string[];
  readonly commands: () => readonly { readonly name: string; readonly note?: string }[];
}

const MOST = 50;

/** The offers now; undefined where there are none. */
export function completionFor({ text, caret }: Editor, sources: CompletionSources): Completion | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command !== null)
    return commandsFor(command[1] ?? "", sources, { from: 0, to: endOfWord(text, caret) });
  const file = /(?:^|[\s([{"'`,;:])@("[^"\n]*|[^\s"'`@]*)$/.exec(before);
  if (file === null) return undefined;
  const query = (file[1] ?? "").replace(/^"/, "");
  const from = caret - (file[1] ?? "").length - 1;
  const items = sources.files(query, MOST).map((path) => ({
    label: path,
    text: `@${/\s/.test(path) ? JSON.stringify(path) : path}${path.endsWith("/") ? "" : " "}`,
  }));
  return items.length === 0 ? undefined : { items, from, to: endOfWord(text, caret) };
}

function commandsFor(
  query: string,
  { commands }: CompletionSources,
  range: { readonly from: number; readonly to: number },
): Completion | undefined {
  const all = commands();
  const { best } = fuzzyBest(query, candidatesOf(all.map(({ name }) => name)), MOST);
  // Of those that begin so the one that is used most, which the list has first.
  const isExact = (name: string): boolean => name === query;
  const begun = all.map(({ name }) => name).filter((name) => name.startsWith(query) && !isExact(name));
  const items = [...new Set([...best.filter(isExact), ...begun, ...best])].slice(0, MOST).map((name) => {
    const note = all.find((each) => each.name === name)?.note;
    return { label: `/${name}`, text: `/${name} `, note };
  });
  return items.length === 0 ? undefined : { items, ...range };
}

function endOfWord(text: string, caret: number): number {
  return caret + (/^[^\s]*/.exec(text.slice(caret))?.[0].length ?? 0);
}
