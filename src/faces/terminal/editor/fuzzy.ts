/** A text of a list, prepared for being searched. */
export interface Candidate {
  readonly text: string;
  readonly folded: string;
  /** Where its last part begins: behind the last `/`. */
  readonly base: number;
  /** Which letters are in it, one bit for each or for several. */
  readonly letters: number;
}

/** A list prepared for {@link fuzzyBest}. */
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

/** The result of a search: the best ones first, and all that fit, in which a longer query can go on. */
export interface FuzzyResult {
  readonly best: readonly string[];
  readonly fitting: readonly Candidate[];
}

/**
 * The texts that hold the letters of a query in their order, the best first: those with the letters side by
 * side, at the beginnings of words and in the name of the file, and of equals the shorter one.
 */
export function fuzzyBest(query: string, candidates: readonly Candidate[], limit: number): FuzzyResult {
  const wanted = query.toLowerCase().replaceAll(/\s+/g, "");
  if (wanted === "") return { best: candidates.slice(0, limit).map(({ text }) => text), fitting: candidates };
  const letters = lettersOf(wanted);
  const fitting: Candidate[] = [];
  const best: { readonly text: string; readonly score: number }[] = [];
  let worst = Number.NEGATIVE_INFINITY;
  for (const candidate of candidates) {
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
  return holds(wanted, folded)
    ? (scattered(wanted, folded, base) ?? scattered(wanted, folded, 0))
    : undefined;
}

function holds(wanted: string, folded: string): boolean {
  let at = -1;
  for (let index = 0; index < wanted.length; index++) {
    at = folded.indexOf(wanted[index] ?? "", at + 1);
    if (at < 0) return false;
  }
  return true;
}

function scattered(wanted: string, folded: string, from: number): number | undefined {
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
