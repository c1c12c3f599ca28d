const CREDENTIAL =
  /(?:^|[_.:-])(?:secrets?|tokens?|password|passwd|passphrase|pass|pwd?|psk|credentials?|auth|authorization|bearer|cookie|jwt|pat)(?:$|[_.:-])/i;
const AT_END =
  /(?:password|passwd|passphrase|secret|apikey|token|sshpass|access_?key_?id|connection_?string)$/i;
const KEY = /(?:^|[_.:-])(?:[a-z0-9]*api)?key$/i;
const HARMLESS_KEY = /(?:public|cache|primary|foreign|sort|partition|index)_?key$/i;
/** A place, a limit or a property of a credential. */
const ABOUT =
  /[_-](?:address|file|path|dir|folder|sock|socket|url|uri|host|port|name|type|ttl|expiry|expires|expires_?in|count|limit|method|mode|provider|endpoint|enabled|disabled|prefix|header|issuer|audience|scope|region|version)$|(?:^|_)max_tokens$/i;

/** `GITHUB_TOKEN`, `db_password`, `clientSecret`. */
export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  if (ABOUT.test(words) || HARMLESS_KEY.test(words)) return false;
  return CREDENTIAL.test(words) || AT_END.test(words) || KEY.test(words);
}

/** Shorter values are words as often as secrets; long ones are secrets also without a digit or a sign. */
const [SHORTEST, LONG] = [8, 16] as const;
const PATH = /^(?:~|\.{1,2})\/[\w./@ -]*$|^\/(?:[\w.@ -]+\/)*[\w.@ -]*\.[a-z]{1,5}$|^[A-Za-z]:\\|^file:/;
const SYSTEM_PATH =
  /^\/(?:usr|home|root|etc|var|run|tmp|opt|Users|private|mnt|srv|dev|proc|s?bin|lib|nix|snap)\//;

/** True when a value can be a secret: not a path, a short word or a number. */
export function isSecretValue(value: string): boolean {
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

/** The passwords and tokens in the addresses of a text, as written and decoded. */
export function urlPasswords(text: string): readonly string[] {
  const found: string[] = [];
  replaceUrlPasswords(text, (secret) => {
    found.push(secret, decoded(secret));
    return "";
  });
  return [...new Set(found)];
}

/** True when an address in the text holds a password or token, default ones such as `postgres` included. */
export function hasUrlLogin(text: string): boolean {
  return /:\/\/[^\s/?#@]*:[^\s@]+@|:\/\/[^\s/?#@:]{16,}@/.test(text);
}

/** The text with `mark(secret)` for each password in an address; defaults such as `postgres` remain. */
export function replaceUrlPasswords(text: string, mark: (secret: string) => string): string {
  if (!text.includes("://")) return text;
  return text.replace(LOGIN, (all, start: string, user = "", password = "", token = "") => {
    const secret = `${password}${token}`;
    if (NO_PASSWORD.test(secret) || !isSecretValue(secret) || (token !== "" && !/\d/.test(token))) return all;
    return `${start}${user}${mark(secret)}@`;
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing.
    return text;
  }
}

/**
 * Token formats of the twenty most used services: the kind in the mark, then a pattern. Every repetition is
 * bounded. Older keys of OpenAI, and those of services with the same API, are `api-key`.
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

/** Before a token there may be an escape of JSON, such as `\n`. */
const START = String.raw`(?<![\w-](?<!\\[nrt]))`;

/** The first group is the place of a secret, and remains. */
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
/**
 * Up to the end of the key, or where that is missing to the next quote or row of dashes: no part crosses a
 * double quote, so that JSON remains valid. The longest RSA keys have 13,000 characters.
 */
const PEM_KEY = new RegExp(
  `-----BEGIN ${NAME}((?:[^"-]|-(?!----)){40,32000})(?:-----END ${NAME}|(?<!\\\\))`,
  "g",
);
/** The first line of a key, or the beginning of it where the text ends. */
const FIRST_LINE = new RegExp(`^-----BEGIN (?:${NAME}|[A-Z0-9 -]{0,60}$)`);
/** Code that only mentions the first and last line of a key has no such text between them. */
const BODY = /[A-Za-z0-9+/]{40}/;

/** Replaces private keys in PEM format with `mark`, also without their end. */
export function replacePrivateKeys(text: string, mark: string): string {
  if (!text.includes("PRIVATE KEY")) return text;
  return text.replace(PEM_KEY, (all, body: string) => (BODY.test(body) ? mark : all));
}

/** The start of a private key that may continue after this text; -1 when there is none. */
export function openKeyStart(text: string): number {
  const start = text.lastIndexOf("-----BEGIN ");
  if (start === -1 || !FIRST_LINE.test(text.slice(start, start + 100))) return -1;
  const end = text.indexOf("-----END ", start);
  return end === -1 || !text.includes("\n", end) ? start : -1;
}
