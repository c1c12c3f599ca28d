import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { revealInvisible } from "../../../core/base/hidden-characters.ts";
import type { DiffHunk, FileDiff } from "../../../view/file-diff.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import { useWords } from "../language/language.ts";
import { Code, changedPart, languageOf } from "./code.tsx";
import { Button } from "./controls.tsx";

/** Lines drawn before all are requested. */
const FIRST_LINES = 200;

/** One line of a diff. `before` and `after` are its numbers on the two sides. */
export interface DiffRow {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
}

/** The lines of a diff with their numbers; a `gap` gives the number of lines omitted in between. */
export function diffRows({ hunks }: FileDiff): readonly DiffRow[] {
  let next = 1;
  return hunks.flatMap((hunk, index) => {
    const skipped = hunk.oldStart - next;
    next = hunk.oldStart + hunk.lines.filter((line) => !line.startsWith("+")).length;
    const gap = { kind: "gap", text: String(skipped) } as const;
    return [...(index === 0 || skipped <= 0 ? [] : [gap]), ...hunkRows(hunk)];
  });
}

function hunkRows({ oldStart, newStart, lines }: DiffHunk): readonly DiffRow[] {
  let before = oldStart;
  let after = newStart;
  return lines.map((line): DiffRow => {
    const text = line.slice(1);
    if (line.startsWith("+")) return { kind: "added", after: after++, text };
    if (line.startsWith("-")) return { kind: "removed", before: before++, text };
    return { kind: "same", before: before++, after: after++, text };
  });
}

interface DiffProps {
  readonly diff: FileDiff;
  /** True: shows all lines at once, for decisions. */
  readonly whole?: boolean;
}

export function DiffView({ diff, whole = false }: DiffProps): VNode {
  const words = useWords();
  const [isWhole, setWhole] = useState(whole);
  const rows = diffRows(diff);
  const shown = isWhole ? rows : rows.slice(0, FIRST_LINES);
  const language = languageOf(diff.path);
  return (
    <>
      <div class="diff" tabIndex={0} role="region" aria-label={revealInvisible(diff.path)}>
        <table>
          {shown.map((row, index) => (
            <Line key={index} row={row} language={language} changed={changedIn(rows, index)} />
          ))}
        </table>
      </div>
      {shown.length < rows.length && (
        <Button look="small" onClick={() => setWhole(true)}>
          {words.showAll(rows.length)}
        </Button>
      )}
    </>
  );
}

export interface Lines {
  readonly added: number;
  readonly removed: number;
}

/** The number of lines that one or more changes add and remove; nothing if there are none. */
export function LineCounts({ lines }: { readonly lines: Lines | readonly Lines[] }): VNode {
  const sum = (name: keyof Lines): number => [lines].flat().reduce((all, each) => all + each[name], 0);
  const [added, removed] = [sum("added"), sum("removed")];
  return (
    <>
      {added > 0 && <span class="plus">+{added}</span>} {removed > 0 && <span class="minus">−{removed}</span>}
    </>
  );
}

const LETTERS = { created: "A", changed: "M", deleted: "D", unchanged: "·" } as const;

interface FileLineProps {
  readonly path: string;
  readonly kind: keyof typeof LETTERS;
  readonly lines: Lines;
}

export function FileLine({ path, kind, lines }: FileLineProps): VNode {
  const words = useWords();
  return (
    <>
      <span class={`ab ${LETTERS[kind]}`} role="img" aria-label={words.changeKinds[kind]}>
        {LETTERS[kind]}
      </span>
      <span class="mono cut grow">{terminalLine(path, 300)}</span>
      <span class="num">
        <LineCounts lines={lines} />
      </span>
    </>
  );
}

/** The new or removed part of a line, if one removed line directly precedes one added. */
function changedIn(rows: readonly DiffRow[], index: number): readonly [number, number] | undefined {
  const kindAt = (at: number): string | undefined => rows[at]?.kind;
  const first = kindAt(index) === "added" ? index - 1 : index;
  const isPair =
    kindAt(first - 1) !== "removed" &&
    kindAt(first) === "removed" &&
    kindAt(first + 1) === "added" &&
    kindAt(first + 2) !== "added";
  if (!isPair) return undefined;
  const [before = "", after = ""] = [rows[first]?.text, rows[first + 1]?.text].map((text) =>
    revealInvisible(text ?? ""),
  );
  const part = changedPart(before, after);
  return part && [part.from, first === index ? part.before : part.after];
}

interface LineProps {
  readonly row: DiffRow;
  readonly language: string;
  readonly changed: readonly [number, number] | undefined;
}

function Line({ row: { kind, before, after, text }, language, changed }: LineProps): VNode {
  const words = useWords();
  const name = kind === "added" ? words.lineAdded : kind === "removed" ? words.lineRemoved : undefined;
  return (
    <tr class={CLASSES[kind]}>
      <td class="no" aria-hidden="true">
        {after ?? before}
      </td>
      <td class="sg">
        <span role={name === undefined ? undefined : "img"} aria-label={name}>
          {SIGNS[kind]}
        </span>
      </td>
      <td class="cd">
        {kind === "gap" ? (
          words.linesUnchanged(Number(text))
        ) : (
          <Code text={revealInvisible(text)} language={language} changed={changed} />
        )}
      </td>
    </tr>
  );
}

const SIGNS: { readonly [K in DiffRow["kind"]]: string } = { same: "", added: "+", removed: "−", gap: "" };
const CLASSES: { readonly [K in DiffRow["kind"]]: string | undefined } = {
  same: undefined,
  added: "add",
  removed: "del",
  gap: "gap",
};
