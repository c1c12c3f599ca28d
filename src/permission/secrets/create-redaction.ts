import { unescape } from "node:querystring";
import { safeParse } from "../../core/base/json.ts";
import { type Redaction, type RedactionStream, redactionMarker } from "../../core/base/text.ts";

/** The secrets {@link createRedaction} looks for. */
export interface RedactionOptions {
  /** Values that must not be shown, as returned by `secretsOf`. Default: none. */
  readonly secrets?: readonly Secret[];
  /** True to remove keys, tokens and passwords in addresses by their format. Default true. */
  readonly shapes?: boolean;
}

/**
 * Creates a redaction that removes secrets from text: known values, plain and in Base64, URL- and
 * JSON-escaped form; private keys; passwords in addresses; the token formats of twenty services. Each is
 * replaced with a mark such as `«redacted:github-token»`; a known value is marked with its name. JSON remains
 * valid. Time is linear in the text.
 */
export function createRedaction(options: RedactionOptions = {}): Required<Redaction> {
  const secrets = new KnownSecrets(options.secrets ?? []);
  const known = (text: string): string => secrets.replace(text, redactionMarker);
  const all = (text: string): string => {
    const redacted = known(replacePrivateKeys(text, redactionMarker("private-key")));
    return replaceTokens(
      replaceUrlPasswords(redacted, () => redactionMarker("password")),
      redactionMarker,
    );
  };
  const text = (options.shapes ?? true) ? all : known;
  return { text, stream: () => lineRedaction(text), known };
}

/** Characters that are held back: of an unfinished line, and of a private key until it ends. */
const [MAX_LINE, MAX_KEY] = [16_000, 40_000] as const;
/** No known value or token is longer. */
const MAX_SECRET = 4_096;
const CUT_STEP = 512;

function lineRedaction(redact: (text: string) => string): RedactionStream {
  let pending = "";
  const pass = (end: number): string => {
    const certain = pending.slice(0, end);
    pending = pending.slice(end);
    return redact(certain);
  };
  return {
    push: (piece) => {
      pending += piece;
      return pass(endOfSafeText(pending, redact));
    },
    flush: () => pass(pending.length),
  };
}

function endOfSafeText(text: string, redact: (text: string) => string): number {
  const line = text.lastIndexOf("\n") + 1;
  const key = openKeyStart(text);
  if (key !== -1 && text.length - key <= MAX_KEY) return text.lastIndexOf("\n", key) + 1;
  if (text.length - line <= MAX_LINE) return line;
  const start = text.length - MAX_LINE;
  const end = text.slice(start);
  const redacted = redact(end);
  const last = MAX_LINE - MAX_SECRET;
  for (let cut = last; cut > last - 2 * MAX_SECRET; cut -= CUT_STEP)
    if (redact(end.slice(0, cut)) + redact(end.slice(cut)) === redacted) return start + cut;
  return start + last;
}

/** A value that must not be shown, and the name in its mark. */
export interface Secret {
  /** Its source, such as the name of the variable. */
  readonly name: string;
  readonly value: string;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

interface PiecePosition {
  readonly form: Secret;
  readonly offset: number;
}

/** Length of the pieces that are looked up. A text is sampled at multiples of it. */
const PIECE = 8;
/** The shortest part of a long secret that is found: it contains one of the samples. */
const MIN_PART = 16;
const MAX_POSITIONS = 16;

/** Finds known values in all their forms; of long ones any part of 16 characters, however they were split. */
class KnownSecrets {
  readonly #positions = new Map<string, PiecePosition[]>();
  readonly #short: Secret[] = [];

  constructor(secrets: readonly Secret[]) {
    for (const { name, value } of secrets)
      for (const form of formsOf(value)) this.#add({ name, value: form });
  }

  replace(text: string, mark: (name: string) => string): string {
    let result = "";
    let done = 0;
    for (const { start, end, name } of mergeRanges(this.#find(text))) {
      result += text.slice(done, start) + mark(name);
      done = end;
    }
    return result + text.slice(done);
  }

  #add(form: Secret): void {
    if (form.value.length < MIN_PART) {
      this.#short.push(form);
      return;
    }
    for (let offset = 0; offset + PIECE <= form.value.length; offset++) {
      const piece = form.value.slice(offset, offset + PIECE);
      const known = this.#positions.get(piece);
      if (known === undefined) this.#positions.set(piece, [{ form, offset }]);
      else if (known.length < MAX_POSITIONS) known.push({ form, offset });
    }
  }

  #find(text: string): readonly Range[] {
    const found: Range[] = [];
    const last = this.#positions.size === 0 ? -1 : text.length - PIECE;
    for (let at = 0; at <= last; at += PIECE) {
      const range = longestAt(text, at, this.#positions.get(text.slice(at, at + PIECE)));
      if (range === undefined) continue;
      found.push(range);
      at = Math.max(at, Math.ceil(range.end / PIECE) * PIECE - PIECE);
    }
    for (const { name, value } of this.#short)
      for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length))
        found.push({ start: at, end: at + value.length, name });
    return found.map((range) => withoutQuotes(text, range)).filter(({ start, end }) => start < end);
  }
}

function longestAt(text: string, at: number, places: readonly PiecePosition[] = []): Range | undefined {
  let best: Range | undefined;
  for (const { form, offset } of places) {
    const { name, value } = form;
    let [left, right] = [0, PIECE];
    while (left < Math.min(at, offset) && text[at - left - 1] === value[offset - left - 1]) left++;
    while (offset + right < value.length && text[at + right] === value[offset + right]) right++;
    const length = best === undefined ? MIN_PART : best.end - best.start + 1;
    if (left + right >= length) best = { start: at - left, end: at + right, name };
  }
  return best;
}

/** Quotes and backslashes at the ends may belong to the surrounding text: JSON must remain valid. */
function withoutQuotes(text: string, { start, end, name }: Range): Range {
  let [first, last] = [start, end];
  while (first < last && /["\\]/.test(text[first] ?? "")) first++;
  while (last > first && /["\\]/.test(text[last - 1] ?? "")) last--;
  return { start: first, end: last, name };
}

function mergeRanges(ranges: readonly Range[]): readonly Range[] {
  const result: Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start || other.end - one.end)) {
    const last = result.at(-1);
    if (last === undefined || range.start >= last.end) result.push(range);
    else result[result.length - 1] = { ...last, end: Math.max(last.end, range.end) };
  }
  return result;
}

/** A value as programs write it: plain, escaped for JSON or a URL, escaped twice, and in Base64. */
function formsOf(value: string): ReadonlySet<string> {
  const [json, url] = [jsonForm(value), encodeURIComponent(value.toWellFormed())];
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((shift) => base64Form(bytes, shift));
  const urlSafe = base64.map((form) => form.replaceAll("+", "-").replaceAll("/", "_"));
  return new Set([value, json, jsonForm(json), ...urlForms(value), ...urlForms(url), ...base64, ...urlSafe]);
}

function jsonForm(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** The forms in which JavaScript, HTML forms and other programs escape a value for a URL. */
function urlForms(value: string): readonly string[] {
  const form = new URLSearchParams({ v: value }).toString().slice(2);
  const plain = encodeURIComponent(value.toWellFormed());
  const forms = [
    plain,
    form,
    form.replaceAll("+", "%20"),
    form.replaceAll("+", "%20").replaceAll("%2F", "/"),
  ];
  return [...forms, ...forms.map((each) => each.replaceAll(/%../g, (escape) => escape.toLowerCase()))];
}

/** Base64 of the bytes after `shift` unknown ones, without the characters that depend on neighbours. */
function base64Form(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const end = (shift + bytes.length) % 3 === 0 ? text.length : text.length - 1;
  return text.slice(Math.ceil((shift * 8) / 6), end);
}

const MAX_SECRETS = 500;
const MAX_LENGTH = 20_000;

/**
 * The secrets among named values (an environment, headers): values of at least 8 characters with a credential
 * name, and passwords in addresses. In multi-line values each line counts, in JSON each string with a
 * credential name.
 */
export function secretsOf(values: { readonly [name: string]: string | undefined }): readonly Secret[] {
  const secrets = new Map<string, Secret>();
  for (const [name, value] of Object.entries(values)) {
    for (const part of partsOf(name, value?.trim() ?? "")) {
      if (secrets.size < MAX_SECRETS && !secrets.has(part)) secrets.set(part, { name, value: part });
    }
  }
  return [...secrets.values()];
}

function partsOf(name: string, value: string): readonly string[] {
  if (value.length > MAX_LENGTH) return [];
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
  if (isAddress || !isCredentialName(name)) return urlPasswords(value);
  const fields = value.startsWith("{") ? [...value.matchAll(JSON_FIELD)] : [];
  const parts = fields.flatMap(([, key = "", field = ""]) => partsOf(key, jsonText(field)));
  if (parts.length > 0) return parts;
  const lines = value.split("\n").map((line) => line.trim());
  if (lines.length > 1) return lines.filter((line) => line.length >= 16 && !line.startsWith("-----"));
  const secret = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "");
  return isSecretValue(secret) ? [secret] : [];
}

const JSON_FIELD = /"([^"\\]*)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

function jsonText(quoted: string): string {
  const parsed = safeParse(quoted);
  return parsed.ok ? String(parsed.value).trim() : "";
}

const CREDENTIAL =
  /(?:^|[_.:-])(?:secrets?|tokens?|password|passwd|passphrase|pass|pwd?|psk|credentials?|auth|authorization|bearer|cookie|jwt|pat)(?:$|[_.:-])/i;
const CREDENTIAL_ENDING =
  /(?:password|passwd|passphrase|secret|apikey|token|sshpass|access_?key_?id|connection_?string)$/i;
const CREDENTIAL_KEY = /(?:^|[_.:-])(?:[a-z0-9]*api)?key$/i;
const HARMLESS_KEY = /(?:public|cache|primary|foreign|sort|partition|index)_?key$/i;
/** Locations, limits and properties of a credential. */
const CREDENTIAL_PROPERTY =
  /[_-](?:address|file|path|dir|folder|sock|socket|url|uri|host|port|name|type|ttl|expiry|expires|expires_?in|count|limit|method|mode|provider|endpoint|enabled|disabled|prefix|header|issuer|audience|scope|region|version)$|(?:^|_)max_tokens$/i;

export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  // The shell's variable is the working directory; in lower case it is a password.
  if (name === "PWD") return false;
  if (CREDENTIAL_PROPERTY.test(words) || HARMLESS_KEY.test(words)) return false;
  return CREDENTIAL.test(words) || CREDENTIAL_ENDING.test(words) || CREDENTIAL_KEY.test(words);
}

/** Shorter values are words as often as secrets; long ones are secrets even without a digit or a sign. */
const [SHORTEST, LONG] = [8, 16] as const;
const PATH = /^(?:~|\.{1,2})\/[\w./@ -]*$|^\/(?:[\w.@ -]+\/)*[\w.@ -]*\.[a-z]{1,5}$|^[A-Za-z]:\\|^file:/;
const SYSTEM_PATH =
  /^\/(?:usr|home|root|etc|var|run|tmp|opt|Users|private|mnt|srv|dev|proc|s?bin|lib|nix|snap)\//;

function isSecretValue(value: string): boolean {
  if (value.length < SHORTEST || PATH.test(value) || SYSTEM_PATH.test(value)) return false;
  if (new Set(value).size < 5) return false;
  const isMixed = /\d/.test(value) && /[A-Za-z]/.test(value);
  return value.length >= LONG || isMixed || /[a-z][A-Z]|[^\w.\s-]/.test(value);
}

/** `://user:password@host`, or a token instead of a user: `://token@host`. */
const LOGIN =
  /(:\/\/)(?:([^\s/?#@:"'`<>\\«»]{0,128}:)([^\s@"'`<>\\«»]{4,256})|([^\s/?#@:"'`<>\\«»]{16,512}))@(?=[\w.[-])/g;
/** A port with its path looks like a password: `localhost:8080/a@b`. A variable or a format is not one. */
const NO_PASSWORD = /^(?:\d{1,5}[/?#,;:)\]]|[${]|%[sd]$|\*+$)|\$\{|\{\{/;

function urlPasswords(text: string): readonly string[] {
  const found: string[] = [];
  replaceUrlPasswords(text, (secret) => {
    found.push(secret, unescape(secret));
    return "";
  });
  return [...new Set(found)];
}

/** True if an address in the text has a password or token, including defaults such as `postgres`. */
export function hasUrlLogin(text: string): boolean {
  return /:\/\/[^\s/?#@]*:[^\s@]+@|:\/\/[^\s/?#@:]{16,}@/.test(text);
}

/** Replaces each password in an address with `mark(secret)`; defaults such as `postgres` remain. */
function replaceUrlPasswords(text: string, mark: (secret: string) => string): string {
  if (!text.includes("://")) return text;
  return text.replace(LOGIN, (all, start: string, user = "", password = "", token = "") => {
    const secret = `${password}${token}`;
    if (NO_PASSWORD.test(secret) || !isSecretValue(secret) || (token !== "" && !/\d/.test(token))) return all;
    return `${start}${user}${mark(secret)}@`;
  });
}

/**
 * Token formats of the twenty most used services: the kind in the mark, then a pattern. Every repetition is
 * bounded. Older OpenAI keys, and those of services with the same API, are `api-key`.
 */
const TOKENS = String.raw`
anthropic-key sk-ant-[\w-]{16,4096}
openai-key sk-(?:proj|svcacct|admin)-[\w-]{16,4096}
api-key sk-(?:or-v1-)?(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{32,4096}
google-key AIza[\w-]{30,4096}
google-token ya29\.[\w-]{16,4096}(?:\.[\w-]{1,4096}){0,3}
google-client-secret GOCSPX-[\w-]{20,4096}
aws-key-id A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])
azure-secret [\w.~-]{3}[78]Q~[\w.~-]{30,100}[\w~-]
github-token gh[oprsu]_[\w-]{20,4096}|github_pat_\w{20,4096}
gitlab-token gl(?:pat|ptt|rt|dt|ft|cbt|oas|soat|imt|agent)-[\w-]{16,4096}(?:\.[\w-]{1,100}){0,4}
slack-token xox[a-z](?:\.xox[bp])?-[\w-]{10,4096}|xapp-[\w-]{20,4096}
stripe-key [rs]k_(?:live|test)_[A-Za-z0-9]{10,4096}
stripe-webhook-secret whsec_[A-Za-z0-9+/]{24,200}={0,2}
npm-token npm_[A-Za-z0-9]{30,200}
pypi-token pypi-AgE[\w-]{20,4096}
docker-token dckr_[op]at_[\w-]{20,200}
huggingface-token hf_[A-Za-z0-9]{30,200}
sendgrid-key SG\.[\w-]{16,100}\.[\w-]{16,200}
twilio-key SK[0-9a-f]{32}(?![A-Za-z0-9])
digitalocean-token do[opr]_v1_[0-9a-f]{40,200}
telegram-token \d{8,12}:AA[\w-]{30,100}
shopify-token shp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,200}
atlassian-token AT[AC]TT3[\w=-]{40,4096}
jwt eyJ[\w-]{14,4096}\.[\w-]{8,8192}(?:\.[\w-]{1,4096}){0,3}`;

/** A token may follow a JSON escape such as `\n`. */
const START = String.raw`(?<![\w-](?<!\\[nrt]))`;

/** The first group is the text before a secret, and remains. */
const FORMATS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ...TOKENS.trim()
    .split("\n")
    .map((line): [string, RegExp] => {
      const [kind = "", pattern = ""] = line.split(" ");
      return [kind, new RegExp(`${START}()(?:${pattern})`, "g")];
    }),
  [
    "aws-secret-key",
    /((?:secret_?access_?key|session_?token)["']?\s{0,4}[:=]\s{0,4}["']?)[A-Za-z0-9/+]{40,4096}={0,2}/gi,
  ],
  ["azure-key", /(A(?:ccount|ccess)Key=)[A-Za-z0-9+/]{40,200}={0,2}/g],
  ["slack-webhook", /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{16,200}/g],
  ["discord-webhook", /(\/api\/webhooks\/\d{8,24}\/)[\w-]{24,200}/g],
  ["npm-token", /(:_authToken\s{0,4}=\s{0,4}"?)[\w+/=.-]{16,4096}/g],
];

export function replaceTokens(text: string, mark: (kind: string) => string): string {
  return FORMATS.reduce(
    (done, [kind, pattern]) => done.replace(pattern, (_all, place: string) => place + mark(kind)),
    text,
  );
}

const NAME = "[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----";
/** A line of a key. A listing may prefix its number or a file name. */
const LINE = '(?:[^\\n"]{0,80}[^A-Za-z0-9+/=\\n"])?[A-Za-z0-9+/=]{16,76}\\r?';
/** A blank line or a header, such as `DEK-Info: …`. */
const HEADER = '[ \\t]{0,8}(?:[A-Z][A-Za-z-]{2,20}: [^\\n"]{0,100})?\\r?';
/** No part crosses a double quote: JSON stays valid. The longest RSA keys have 13,000 characters. */
const WHOLE = `(?:[^"-]|-(?!----)){40,32000}-----END ${NAME}`;
const CUT_IN_ONE_LINE = "(?:\\\\[rn]|[A-Za-z0-9+/=]){40,32000}";
const CUT_IN_LINES = `[ \\t\\r]{0,8}(?:\\n${HEADER}){0,4}(?:\\n${LINE}){1,500}`;
const PEM_KEY = new RegExp(`-----BEGIN ${NAME}(${WHOLE}|${CUT_IN_ONE_LINE}|${CUT_IN_LINES})`, "g");
/** The first line of a key, or its beginning at the end of the text. */
const FIRST_LINE = new RegExp(`^-----BEGIN (?:${NAME}|[A-Z0-9 -]{0,60}$)`);
const END = new RegExp(`-----END ${NAME}`, "g");
const KEY_LINE = new RegExp(`^${LINE}$`);
/** Code that only mentions the first and last line of a key has no such text between them. */
const BODY = /[A-Za-z0-9+/]{40}/;

/** Replaces private keys in PEM format, with line numbers or escaped newlines, whole or truncated. */
function replacePrivateKeys(text: string, mark: string): string {
  if (!text.includes("PRIVATE KEY")) return text;
  return withoutKeyEnds(
    text.replace(PEM_KEY, (all, body: string) => (BODY.test(body) ? mark : all)),
    mark,
  );
}

/** The start of a private key that may continue after this text; -1 if there is none. */
function openKeyStart(text: string): number {
  const start = text.lastIndexOf("-----BEGIN ");
  if (start === -1 || !FIRST_LINE.test(text.slice(start, start + 100))) return -1;
  const end = text.indexOf("-----END ", start);
  return end === -1 || !text.includes("\n", end) ? start : -1;
}

/** Replaces the end of a key whose beginning is missing, along with the preceding key lines. */
function withoutKeyEnds(text: string, mark: string): string {
  let result = "";
  let done = 0;
  for (const { 0: end, index } of text.matchAll(END)) {
    const last = lineStart(text, index);
    let start = last;
    while (start > done) {
      const previous = Math.max(done, lineStart(text, start - 1));
      if (!KEY_LINE.test(text.slice(previous, start - 1))) break;
      start = previous;
    }
    if (start === last || text.slice(last, index).includes('"')) continue;
    result += text.slice(done, start) + mark;
    done = index + end.length;
  }
  return result + text.slice(done);
}

/** The start of the line before `end`, no further back than a key line is long. */
function lineStart(text: string, end: number): number {
  const from = Math.max(0, end - 200);
  return from + text.slice(from, end).lastIndexOf("\n") + 1;
}
