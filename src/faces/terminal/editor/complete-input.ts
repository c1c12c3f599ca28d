import { listFiles, RipgrepLocator } from "../../../tools/search/ripgrep.ts";
import type { Editor } from "./editor.ts";

export interface Completion {
  readonly items: readonly {
    readonly label: string;
    readonly note?: string | undefined;
    readonly text: string;
  }[];
  readonly from: number;
  readonly to: number;
}

export interface CompletionSources {
  readonly files: (query: string, limit: number) => readonly string[];
  readonly commands: () => readonly { readonly name: string; readonly note?: string }[];
}

const MAX_ITEMS = 50;

export function completionFor({ text, caret }: Editor, sources: CompletionSources): Completion | undefined {
  const before = text.slice(0, caret);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command !== null)
    return commandsFor(command[1] ?? "", sources, { from: 0, to: endOfWord(text, caret) });
  const file = /(?:^|[\s([{"'`,;:])@("[^"\n]*|[^\s"'`@]*)$/.exec(before);
  if (file === null) return undefined;
  const query = (file[1] ?? "").replace(/^"/, "");
  const from = caret - (file[1] ?? "").length - 1;
  const items = sources.files(query, MAX_ITEMS).map((path) => ({
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
  const { best } = fuzzyBest(query, candidatesOf(all.map(({ name }) => name)), MAX_ITEMS);
  // Names with this prefix keep the list's order: most used first.
  const isExact = (name: string): boolean => name === query;
  const withPrefix = all.map(({ name }) => name).filter((name) => name.startsWith(query) && !isExact(name));
  const items = [...new Set([...best.filter(isExact), ...withPrefix, ...best])]
    .slice(0, MAX_ITEMS)
    .map((name) => {
      const note = all.find((each) => each.name === name)?.note;
      return { label: `/${name}`, text: `/${name} `, note };
    });
  return items.length === 0 ? undefined : { items, ...range };
}

function endOfWord(text: string, caret: number): number {
  return caret + (/^[^\s]*/.exec(text.slice(caret))?.[0].length ?? 0);
}

export interface Candidate {
  readonly text: string;
  readonly folded: string;
  /** Where its last part begins: after the last `/`. */
  readonly base: number;
  /** The letters it contains, as bits; several letters may share one. */
  readonly letters: number;
}

export function candidatesOf(texts: readonly string[]): readonly Candidate[] {
  return texts.map((text) => {
    const folded = text.toLowerCase();
    return { text, folded, base: text.lastIndexOf("/", text.length - 2) + 1, letters: lettersOf(folded) };
  });
}

function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) letters |= 1 << (text.charCodeAt(at) & 31);
  return letters;
}

/**
 * The texts that contain the letters of a query in order, best first: adjacent letters, letters at word
 * starts and in the file name score higher; on a tie the shorter text wins.
 */
export function fuzzyBest(
  query: string,
  candidates: readonly Candidate[],
  limit: number,
): { readonly best: readonly string[]; readonly fitting: readonly Candidate[] } {
  const wanted = query.toLowerCase().replaceAll(/\s+/g, "");
  if (wanted === "") return { best: candidates.slice(0, limit).map(({ text }) => text), fitting: candidates };
  const letters = lettersOf(wanted);
  const fitting: Candidate[] = [];
  const best: { readonly text: string; readonly score: number }[] = [];
  let worst = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
    // Cheap test first: most paths lack a letter.
    if ((candidate.letters & letters) !== letters) continue;
    const score = scoreOf(wanted, candidate);
    if (score === undefined) continue;
    fitting.push(candidate);
    if (best.length >= limit && score <= worst) continue;
    let at = best.length;
    while (at > 0 && (best[at - 1]?.score ?? 0) < score) at--;
    best.splice(at, 0, { text: candidate.text, score });
    if (best.length > limit) best.pop();
    worst = best.at(-1)?.score ?? worst;
  }
  return { best: best.map(({ text }) => text), fitting };
}

function scoreOf(wanted: string, { folded, base }: Candidate): number | undefined {
  const whole = folded.indexOf(wanted, base);
  if (whole >= 0) return 1_000 + (whole === base ? 500 : startsWord(folded, whole) ? 200 : 0) - folded.length;
  const inPath = folded.indexOf(wanted);
  if (inPath >= 0) return 600 + (startsWord(folded, inPath) ? 100 : 0) - folded.length;
  return containsInOrder(wanted, folded)
    ? (scatteredScore(wanted, folded, base) ?? scatteredScore(wanted, folded, 0))
    : undefined;
}

function containsInOrder(wanted: string, folded: string): boolean {
  let at = -1;
  for (let index = 0; index < wanted.length; index++) {
    at = folded.indexOf(wanted[index] ?? "", at + 1);
    if (at < 0) return false;
  }
  return true;
}

function scatteredScore(wanted: string, folded: string, from: number): number | undefined {
  let score = from > 0 ? 100 : 0;
  let at = from;
  for (let index = 0; index < wanted.length; index++) {
    const next = folded.indexOf(wanted[index] ?? "", at);
    if (next < 0) return undefined;
    if (startsWord(folded, next)) score += 20;
    else score -= Math.min(10, next - at);
    at = next + 1;
  }
  return score - folded.length / 4;
}

function startsWord(text: string, at: number): boolean {
  if (at === 0) return true;
  const before = text.charCodeAt(at - 1);
  // Slash, dash, dot, underline, blank.
  return before === 0x2f || before === 0x2d || before === 0x2e || before === 0x5f || before === 0x20;
}

const MAX_FILES = 200_000;
/** An older list is rebuilt in the background when it is next needed. */
const FRESH_MS = 15_000;

/** The working directory's files that are not ignored, for completion. Read in the background on demand. */
export class FileIndex {
  readonly #folder: string;
  readonly #onChange: () => void;
  readonly #ended = new AbortController();
  #candidates: readonly Candidate[] = [];
  #readAt: number | undefined;
  #isReading = false;
  #last: { readonly query: string; readonly fitting: readonly Candidate[] } | undefined;

  constructor(folder: string, onChange: () => void) {
    this.#folder = folder;
    this.#onChange = onChange;
  }

  /** The paths that best match a query, relative to the folder. Folders end with `/`. */
  find(query: string, limit: number): readonly string[] {
    this.#refresh();
    const last = this.#last;
    // Further typing searches only what has matched so far.
    const from = last !== undefined && query.startsWith(last.query) ? last.fitting : this.#candidates;
    const { best, fitting } = fuzzyBest(query, from, limit);
    this.#last = { query, fitting };
    return best;
  }

  close(): void {
    this.#ended.abort();
  }

  #refresh(): void {
    const isFresh = this.#readAt !== undefined && performance.now() - this.#readAt < FRESH_MS;
    if (this.#isReading || isFresh) return;
    this.#isReading = true;
    void this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#isReading = false;
        this.#readAt = performance.now();
      });
  }

  async #read(): Promise<void> {
    const files: string[] = [];
    const folders = new Set<string>();
    await listFiles(new RipgrepLocator(), {
      folder: this.#folder,
      withNodeModules: false,
      signal: this.#ended.signal,
      onFile: (path) => {
        files.push(path);
        for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
          const folder = path.slice(0, at + 1);
          if (folders.has(folder)) break;
          folders.add(folder);
        }
        return files.length < MAX_FILES;
      },
    });
    if (this.#ended.signal.aborted) return;
    // Shorter ones first: they are what is offered without a query.
    const all = [...files, ...folders].sort((a, b) => depth(a) - depth(b) || (a < b ? -1 : 1));
    this.#candidates = candidatesOf(all);
    this.#last = undefined;
    this.#onChange();
  }
}

function depth(path: string): number {
  let count = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) count++;
  return count;
}
