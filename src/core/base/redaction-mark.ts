const MARK = /«redacted:[A-Za-z0-9_.-]{1,80}»/;

/** Stands where a secret was: `«redacted:github-token»`. `kind` keeps letters, digits, `_`, `.` and `-`. */
export function redactionMark(kind: string): string {
  return `«redacted:${kind.replaceAll(/[^A-Za-z0-9_.-]/g, "").slice(0, 80) || "secret"}»`;
}

/** The first mark in a text, if any. A text with a mark is not the text it stands for. */
export function findRedactionMark(text: string): string | undefined {
  return MARK.exec(text)?.[0];
}
