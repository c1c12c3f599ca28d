import { wordSet } from "../match-text.ts";

/**
 * True when a jq filter only works on its input: every token of it is known. Not the environment (`env`,
 * `$ENV`), other files (`import`, `include`, `modulemeta`), nor any name that jq may have and nobody here
 * knows.
 */
export function isPlainFilter(filter: string): boolean {
  if (filter.length > MAX_LENGTH) return false;
  const reader = new FilterReader(filter);
  return reader.reads() && reader.isDone;
}

const MAX_LENGTH = 10_000;

const NAMES: ReadonlySet<string> = wordSet(`
  if then elif else end reduce foreach as def label break try catch and or not empty error null true false length utf8bytelength keys
  keys_unsorted values has in map map_values path del to_entries from_entries with_entries select recurse add any all flatten range floor
  sqrt pow log log10 log2 exp exp10 exp2 tostring tonumber type infinite nan isinfinite isnan isnormal isvalid sort sort_by group_by min
  max min_by max_by unique unique_by reverse contains inside startswith endswith combinations ltrimstr rtrimstr trim ltrim rtrim explode
  implode split join ascii ascii_downcase ascii_upcase while repeat until inputs input debug transpose first last nth limit bsearch test
  match capture scan splits sub gsub fromjson tojson todate fromdate now mktime gmtime localtime strftime strptime dateadd datesub date
  walk getpath setpath delpaths paths leaf_paths pick to_array tojson ascii indices index rindex round ceil fabs abs trunc arrays objects
  iterables booleans numbers normals finites strings nulls scalars halt isempty error limit skip have_literal_numbers toarray tostream
  fromstream truncate_stream min_by splits getpath`);
const FORMATS = /@(?:csv|tsv|json|html|uri|sh|base64|base64d|text)(?!\w)/y;
const MARKS = /\?\/\/|\/\/=|\|=|\/\/|[-+*/%=<>!]=|\.\.|[-+*/%=<>|,:;.?]/y;

class FilterReader {
  readonly #text: string;
  readonly #own: ReadonlySet<string>;
  #at = 0;
  #open = "";

  constructor(text: string) {
    this.#text = text;
    this.#own = new Set([...text.matchAll(/\bdef\s+([A-Za-z_]\w*)/g)].map(([, name = ""]) => name));
  }

  get isDone(): boolean {
    return this.#at === this.#text.length;
  }

  #takes(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }

  /** Reads up to the end, or the bracket that closes what is open. False for what is not known. */
  reads(): boolean {
    while (!this.isDone) {
      if (this.#takes(/[ \t\n]+/y)) continue;
      const char = this.#text.charAt(this.#at);
      if (char === ")" || char === "]" || char === "}") return true;
      if (!this.#token(char)) return false;
    }
    return true;
  }

  #token(char: string): boolean {
    const closing = { "(": ")", "[": "]", "{": "}" }[char];
    if (closing !== undefined) {
      const outer = this.#open;
      this.#at++;
      this.#open = char;
      const isClosed = this.reads() && this.#text.charAt(this.#at++) === closing;
      this.#open = outer;
      return isClosed;
    }
    if (char === '"') return this.#string();
    if (char === "$") return this.#variable();
    return (
      this.#takes(/\.[A-Za-z_]\w*/y) ||
      this.#takes(/\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?!\w)/y) ||
      this.#takes(FORMATS) ||
      this.#takes(MARKS) ||
      this.#name()
    );
  }

  #string(): boolean {
    this.#at++;
    for (;;) {
      this.#takes(/[^"\\]+/y);
      if (this.#takes(/"/y)) return true;
      if (this.#takes(/\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y)) continue;
      if (!this.#takes(/\\\(/y) || !this.reads() || !this.#takes(/\)/y)) return false;
    }
  }

  #variable(): boolean {
    return this.#takes(/\$(?!ENV(?!\w)|__)[A-Za-z_]\w*/y);
  }

  /** A function of jq, one the filter defines, or a key of an object. */
  #name(): boolean {
    const start = this.#at;
    if (!this.#takes(/[A-Za-z_]\w*(?!\w|::)/y)) return false;
    const name = this.#text.slice(start, this.#at);
    if (NEVER.has(name)) return false;
    return NAMES.has(name) || this.#own.has(name) || (this.#open === "{" && this.#isKey(start));
  }

  /** `{name}`, `{name: …}` */
  #isKey(start: number): boolean {
    const before = this.#text.slice(0, start).trimEnd();
    return /[{,]$/.test(before) && /^\s*(?:[,}]|:(?!:))/.test(this.#text.slice(this.#at));
  }
}

/** Not even as keys: readers of jq differ in where a name is one. */
const NEVER: ReadonlySet<string> = wordSet(`
  env ENV import include modulemeta module input_filename get_search_list builtins stderr halt_error splitenv`);
