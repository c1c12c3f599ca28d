import { isAnyKey, isCode, isCredentialName, isPhrase, looksGenerated, looksRandom } from "./secret-value.ts";

/**
 * The text behind a name: a colon, an equals sign or an arrow, and a value with or without quotes. Bounded,
 * so that no text makes it slow. A quote that is not closed ends with the JSON string it stands in.
 */
const VALUE =
  /[:=]>?[ \t]{0,4}(?:"((?:[^"\\\n«»]|\\[^\n«»]){8,512})(?=")|'((?:[^'"\n«»]|"(?![ \t]*[,:}\]])){8,512})(?='|"[ \t]*[,:}\]])|([^\s"'`;,&|<>(){}[\]«»\\=]{8,512}={0,2}))/g;
const NAME = /([A-Za-z_][\w.-]{1,63})\\?["']?[ \t]{0,4}$/;
const LONGEST_NAME = 80;
/** Under a name that says little a value has to say more. */
const LONG = 24;
/** Passwords people think of: a word, a digit and one of these, rarely together in code or in a word. */
const PASSWORD = /passw(?:or)?d$|passphrase$/i;
const SYMBOL = /[!@#$%^*?~]/;
const CAPITALS = /^[A-Z][A-Z0-9_.-]*$/;

/**
 * Replaces the values of settings whose name says that they are credentials: in capitals, as in `.env` files
 * and the environment (`DB_PASSWORD=…`); else in quotes, as in JSON and code (`"apiKey": "…"`), or alone on
 * their line, as in YAML. There ordinary code stands as often, and only what is no word counts.
 */
export function replaceSettings(text: string, mark: string): string {
  let result = "";
  let done = 0;
  const search = new RegExp(VALUE);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const [all, double, single, bare] = match;
    const value = double ?? single ?? bare ?? "";
    const end = match.index + all.length;
    const start = end - value.length;
    const name = NAME.exec(text.slice(Math.max(0, match.index - LONGEST_NAME), match.index))?.[1] ?? "";
    if (isSecret(text, { name, value, isBare: bare !== undefined, start })) {
      result += text.slice(done, start) + mark;
      done = end;
    } else search.lastIndex = match.index + 1;
  }
  return done === 0 ? text : result + text.slice(done);
}

interface Setting {
  readonly name: string;
  readonly value: string;
  readonly isBare: boolean;
  readonly start: number;
}

function isSecret(text: string, { name, value, isBare, start }: Setting): boolean {
  if (name === "" || value.includes("://") || !isCredentialName(name)) return false;
  if (isPhrase(value) && !/pass/i.test(name)) return false;
  if (CAPITALS.test(name))
    return !(isBare && isCode(value, text[start + value.length])) && looksRandom(value);
  if (isBare ? !isAlone(text, { value, start }) : /\s/.test(value)) return false;
  return saysEnough(name, value);
}

/** A password that somebody thought of, or a value that no word is. */
function saysEnough(name: string, value: string): boolean {
  if (PASSWORD.test(name) && SYMBOL.test(value) && looksRandom(value)) return true;
  return looksGenerated(value) && (value.length >= LONG || !isAnyKey(name));
}

/** True when a bare value and its name are all of their line. */
function isAlone(text: string, { value, start }: Pick<Setting, "value" | "start">): boolean {
  const line = text.slice(Math.max(0, start - LONGEST_NAME), start);
  const before = line.slice(line.lastIndexOf("\n") + 1);
  return (
    /^[ \t]*(?:- )?["']?[\w.-]+["']?[ \t]*[:=][ \t]*$/.test(before) &&
    /^[ \t]*(?:\r?\n|$)/.test(text.slice(start + value.length, start + value.length + 20))
  );
}
