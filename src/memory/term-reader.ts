interface IndexTerms {
  readonly words: readonly string[];
  /** Other forms to find it by: parts of compounds, singulars; characters and pairs in unspaced scripts. */
  readonly parts: readonly string[];
}

export interface QueryTerms {
  readonly terms: readonly string[];
  /** Terms to use if the others find nothing: single Chinese characters. */
  readonly loose: readonly string[];
}

/**
 * Splits text into the terms it is indexed and searched by. Words come from `Intl.Segmenter`, so Chinese,
 * Japanese and Thai have words too. They are folded: compatibility forms, case and diacritics of Latin, Greek
 * and Cyrillic letters make no difference. A term consists only of letters, digits and marks, at most 64
 * UTF-16 units.
 */
export class TermReader {
  readonly #segmenter = new Intl.Segmenter("und", { granularity: "word" });

  index(text: string): IndexTerms {
    const plain = text.toWellFormed().normalize("NFKC");
    const words: string[] = [];
    const parts: string[] = [];
    for (const raw of this.#words(plain)) {
      const word = foldTerm(raw);
      if (word === "") continue;
      words.push(word);
      for (const part of [...partsOf(raw), singular(word)])
        if (part !== "" && part !== word) parts.push(part);
    }
    const known = new Set(words);
    const extra = [...compoundTerms(plain), ...unspacedTerms(plain, true)];
    return { words, parts: [...parts, ...extra.filter((term) => !known.has(term))] };
  }

  /** Unique terms, at most 96 of a kind, without stop words. Reads both ends of a long text. */
  query(text: string): QueryTerms {
    const plain = bothEnds(text.toWellFormed()).normalize("NFKC");
    const terms = new Set<string>();
    for (const raw of this.#words(plain)) {
      const word = foldTerm(raw);
      for (const term of [word, ...partsOf(raw), singular(word)]) terms.add(term);
    }
    for (const term of [...compoundTerms(plain), ...unspacedTerms(plain, false)]) terms.add(term);
    return { terms: toQueryTerms(terms), loose: toQueryTerms(unspacedTerms(plain, true)) };
  }

  *#words(text: string): Generator<string, void, undefined> {
    for (const { segment, isWordLike } of this.#segmenter.segment(text))
      if (isWordLike === true) yield segment;
  }
}

/** The terms without stop words; all of them if nothing else is left. */
export function significantWords(terms: readonly string[]): readonly string[] {
  const some = terms.filter((term) => !STOP_WORDS.has(term));
  return some.length > 0 ? some : terms;
}

function toQueryTerms(terms: Iterable<string>): readonly string[] {
  const each = new Set(terms);
  each.delete("");
  return significantWords([...each]).slice(0, MAX_QUERY_TERMS);
}

const MAX_TERM = 64;
const MAX_QUERY_TERMS = 96;
const MAX_QUERY_END = 2000;

/** Only combining marks of alphabets with diacritics: elsewhere a mark is part of the letter. */
const DIACRITICS = /[\u0300-\u036f]/g;
const NO_TERM = /[^\p{L}\p{N}\p{M}]+/gu;

function foldTerm(raw: string): string {
  // Upper case first, as some letters become equal only there (ß and SS); twice lower, for new capitals.
  const folded = raw
    .toUpperCase()
    .toLowerCase()
    .normalize("NFKD")
    .replace(DIACRITICS, "")
    .toLowerCase()
    .normalize("NFKC")
    .replace(NO_TERM, "");
  if (folded.length <= MAX_TERM) return folded;
  const cut = folded.slice(0, MAX_TERM);
  return cut.isWellFormed() ? cut : cut.slice(0, -1);
}

/** Where a word of an identifier begins: at a capital, and after digits and signs. */
const WORD_BOUNDARIES =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{L})(?=\p{N})|(?<=\p{N})(?=\p{L})|[^\p{L}\p{N}\p{M}]+/u;

function partsOf(raw: string): readonly string[] {
  const parts = raw.split(WORD_BOUNDARIES);
  // A single letter or digit is too common to be useful.
  return parts.length < 2 ? [] : parts.map(foldTerm).filter((part) => !/^[a-z0-9]?$/.test(part));
}

/** An English noun without its plural ending. Other languages lose the same letters in index and query. */
function singular(word: string): string {
  if (word.length < 4 || !/^[a-z]+s$/.test(word) || /(?:ss|us|is)$/.test(word)) return word;
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return /(?:ch|sh|x|ss|zz)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}

const COMPOUND = /[\p{L}\p{N}]+(?:[-_./:\\@+#]+[\p{L}\p{N}]+)+/gu;

/** `nano-agent` and `nano_agent` as one word, so that a search for `nanoAgent` finds them. */
function compoundTerms(text: string): readonly string[] {
  return Array.from(text.matchAll(COMPOUND), ([compound]) => foldTerm(compound));
}

const UNSPACED =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}ー]+/gu;
const HAN = /\p{sc=Han}/u;

/** Pairs of characters, since words are a guess in these scripts; with `alone` single Chinese ones too. */
function unspacedTerms(text: string, withSingles: boolean): readonly string[] {
  const terms: string[] = [];
  for (const [run] of text.matchAll(UNSPACED)) {
    const characters = Array.from(run);
    characters.forEach((character, at) => {
      const next = characters[at + 1];
      if (next !== undefined) terms.push(foldTerm(character + next));
      if (HAN.test(character) && (withSingles || characters.length === 1)) terms.push(foldTerm(character));
    });
  }
  return terms;
}

function bothEnds(text: string): string {
  if (text.length <= 2 * MAX_QUERY_END) return text;
  return `${text.slice(0, MAX_QUERY_END)}\n${text.slice(-MAX_QUERY_END)}`.toWellFormed();
}

/** Words that carry no information about the topic, English and Chinese, folded. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    "a about all also am an and any are as at be been but by can could did do does for from had has have he her him his how i if in",
    "into is it its just let me my no not of on or our out please she should so some than that the their them then there these they",
    "this to too up us was we were what when where which who whom whose why will with would yes you your",
    "的 了 是 在 我 你 他 她 它 们 我们 你们 他们 她们 它们 和 与 或 也 都 就 还 又 很 吗 呢 吧 啊 这 那 这个 那个 这些 那些 有 没有 不 要 会 能 可以",
    "什么 怎么 怎样 如何 为什么 哪 哪个 哪些 哪里 谁 多少 一个 一下 请 请问 把 被 给 对 到 从 上 下 里 中 着 过 得 地 之 其 而 但 但是 因为 所以 如果",
  ]
    .join(" ")
    .split(" "),
);
