import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { DiffHunk, FileDiff } from "../../../app/coding-session/file-diff.ts";
import { withHiddenShown } from "../../../permission/hidden-characters.ts";
import { useWords } from "../language/language.ts";

/** Lines that are drawn before somebody asks for all. */
const FIRST_LINES = 200;

/** One line of a diff. `before` and `after` are its numbers on the two sides. */
export interface DiffRow {
  readonly kind: "same" | "added" | "removed" | "gap";
  readonly before?: number;
  readonly after?: number;
  readonly text: string;
}

/** The lines of a diff with their numbers; a `gap` stands between stretches that are apart. */
export function diffRows({ hunks }: FileDiff): readonly DiffRow[] {
  return hunks.flatMap((hunk, index) => [
    ...(index === 0 ? [] : [{ kind: "gap", text: "⋯" } as const]),
    ...hunkRows(hunk),
  ]);
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
  /** True: no line waits to be asked for, as somebody decides on it. */
  readonly whole?: boolean;
}

/** The changes in a file, line by line. */
export function DiffView({ diff, whole = false }: DiffProps): VNode {
  const words = useWords();
  const [isWhole, setWhole] = useState(whole);
  const rows = diffRows(diff);
  const shown = isWhole ? rows : rows.slice(0, FIRST_LINES);
  return (
    <figure class="diff">
      <figcaption>
        <span class="path">{withHiddenShown(diff.path)}</span>
        {diff.isNew && <span class="soft">{words.newFile}</span>}
        <span class="good">+{diff.added}</span>
        <span class="bad">−{diff.removed}</span>
      </figcaption>
      <div class="diff-lines" tabIndex={0} role="region" aria-label={withHiddenShown(diff.path)}>
        {shown.map((row, index) => (
          <Line key={index} row={row} />
        ))}
      </div>
      {shown.length < rows.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {words.showAll(rows.length)}
        </button>
      )}
    </figure>
  );
}

function Line({ row: { kind, before, after, text } }: { readonly row: DiffRow }): VNode {
  const words = useWords();
  const name = kind === "added" ? words.lineAdded : kind === "removed" ? words.lineRemoved : undefined;
  return (
    <div class={`diff-line ${kind}`}>
      <span class="number" aria-hidden="true">
        {before}
      </span>
      <span class="number" aria-hidden="true">
        {after}
      </span>
      <span class="sign" role={name === undefined ? undefined : "img"} aria-label={name}>
        {SIGNS[kind]}
      </span>
      <code>{withHiddenShown(text)}</code>
    </div>
  );
}

const SIGNS: { readonly [K in DiffRow["kind"]]: string } = { same: " ", added: "+", removed: "−", gap: " " };
