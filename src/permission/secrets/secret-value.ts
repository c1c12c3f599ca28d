/** Shorter values are words as often as secrets. */
const SHORTEST = 8;
/** From this length on a value needs no digit to count. */
const LONG = 16;
/** A run of letters and digits that is no word with a number behind it is random from this length on. */
const SHORTEST_RUN = 6;
const PLACE =
  /^(?:~$|~\/[\w./@ -]*$|\.{1,2}\/[\w./@ -]*$|[A-Za-z]:\\[\w .\\-]*$|file:|\/(?:[\w.@-]+\/)*[\w.@-]*\.[a-z]{1,5}$)/;
const KNOWN_FOLDER =
  /^\/(?:usr|home|root|etc|var|run|tmp|opt|Users|private|mnt|srv|dev|proc|s?bin|lib|nix|snap)\//;
/** Text that a shell, a template or a program puts something else for, and marks of this package. */
const EXPANSION =
  /\$\{|\$\(|\{\{|<%|\$[A-Z_][A-Z0-9_]{2,}|^\$\w+$|^%\w+%$|^<[^>]*>?$|^\[[^\]]*\]?$|\{[\w.]+\}|^\{[^}]*$|\[\w-\w|[«»…]/;
const BLANKED = /^(.)\1*$|[*x•]{4,}|\.{3}/i;
const IN_CODE =
  /^(?:process\.env|os\.(?:environ|getenv)|import\.meta|(?:self|this|cls)\.[A-Za-z_]|(?:config|settings|env|secrets|vars)(?:\.[A-Za-z_]+\d{0,2})+$)/;
/** Parts of a stand-in: words, with at most a small number behind them. */
const PLAIN = /^(?:[A-Za-z]+\d{0,4}|\d{1,6})$/;
const STAND_IN =
  /^(?:my|the|some|tests?|foo|bar|baz|demo|here|your[a-z]*|insert[a-z]*|enter[a-z]*|examples?|sample[a-z]*|dummy[a-z]*|fake[a-z]*|todo|placeholder|change(?:me|it|this)?|replace(?:me|this)?|secret|password)\d{0,4}$/i;

/** True when a value under a credential's name is a secret: not a place, a number, a word, or a stand-in. */
export function looksSecret(value: string): boolean {
  if (value.length < SHORTEST || isPlace(value) || isStandIn(value)) return false;
  if (new Set(value).size < 5) return false;
  return (
    value.length >= LONG || isMixed(value) || /[a-z][A-Z]|[^\w.\s-]/.test(value) || isJumbled(value, 0.7)
  );
}

/** The stricter question where only the name speaks for it: mixed characters, and no stand-in. */
export function looksRandom(value: string): boolean {
  return (
    (isMixed(value) || isJumbled(value, 0.7)) && isVaried(value) && !isPlace(value) && !isPlaceholder(value)
  );
}

/** The strictest: for places where ordinary code stands as often. A part of it must be no word. */
export function looksGenerated(value: string): boolean {
  if (!looksRandom(value)) return false;
  const parts = value.split(/[^A-Za-z0-9]+/);
  return isJumbled(value, 0.6) || parts.some((part) => part.length >= SHORTEST_RUN && isTangled(part));
}

/** True when a value is a stand-in: `YOUR_KEY`, `${TOKEN}`, `<token>`, `****`. */
export function isPlaceholder(value: string): boolean {
  return EXPANSION.test(value) || BLANKED.test(value) || IN_CODE.test(value) || isStandIn(value);
}

/** A name in a program, called or looked into: `base64Encode(user)`, `tokens[0]`. `next` follows it. */
export function isCode(value: string, next = ""): boolean {
  return /[([]/.test(next) && /^[A-Za-z_$][\w$.]*$/.test(value);
}

/** Three or more small words, joined: `kafka.message.key`. No token; a password only if the name says so. */
export function isPhrase(value: string): boolean {
  return /^[a-z]+\d{0,4}(?:[-_./:][a-z]+\d{0,4}){2,}$/.test(value);
}

/** Words only, and one of them says that this is no value. `test-a8f3c9d2` is a value. */
function isStandIn(value: string): boolean {
  const parts = value.split(/[-_. ]+/).filter((part) => part !== "");
  return parts.every((part) => PLAIN.test(part)) && parts.some((part) => STAND_IN.test(part));
}

function isPlace(value: string): boolean {
  return PLACE.test(value) || KNOWN_FOLDER.test(value);
}

function isMixed(value: string): boolean {
  return /\d/.test(value) && /[A-Za-z]/.test(value);
}

/** Digits among letters and not behind them: `a8f3c9`; not one between two words: `base64Encode`. */
function isTangled(part: string): boolean {
  const changes = part.match(/[A-Za-z](?=\d)|\d(?=[A-Za-z])/g)?.length ?? 0;
  return (
    changes >= 3 ||
    (changes >= 1 && /^[0-9a-f]{16,}$/i.test(part)) ||
    (changes >= 1 && part.length >= 2 * SHORTEST_RUN && changes * 8 >= part.length)
  );
}

/** Letters that follow each other in words and in names of programs: each first one with its next. */
const PAIRS: ReadonlySet<string> = new Set(
  `abcdgiklmnprstuy baeilosu caehiklortu dadeiosu eabcdefgilmnpqrstvwxy faefioru gaehinrs haeiot iabcdefglmnoprstvz je ke
  ladeilostuy mabeimop nacdefgilnostuv obcdfgiklmnoprstuvw paeiloprtuy qu racdegimnorstuy sacehiopstuy tacehiloprstuy
  uabeilmnprst vaei waehio xept yp ze`
    .split(/\s+/)
    .flatMap(([first = "", ...rest]) => rest.map((next) => first + next)),
);

/** Letters in an order that no word has; `share` of the pairs would be enough for words. */
function isJumbled(value: string, share: number): boolean {
  const pairs = [...value.matchAll(/[A-Za-z](?=([A-Za-z]))/g)].map(([first, next = ""]) =>
    (first + next).toLowerCase(),
  );
  return pairs.length >= 6 && pairs.filter((pair) => PAIRS.has(pair)).length < pairs.length * share;
}

function isVaried(value: string): boolean {
  return new Set(value).size >= Math.max(4, Math.min(8, Math.floor(value.length * 0.35)));
}

const CREDENTIAL =
  /(?:^|[_.:-])(?:api_?keys?|access_?key(?:_id)?|secrets?|secret_?key|client_?secret|token|auth_?token|password|passwd|passphrase|pass|pwd?|psk|credentials?|private_?key|signing_?key|encryption_?key|master_?key|auth|authorization|bearer|cookie|jwt|pat|connection_?string)(?:$|[_.:-])/i;
const KEY = /(?:[_-]|^)(?:[a-z0-9]*api)?key$/i;
const HARMLESS_KEY = /(?:public|cache|primary|foreign|sort|partition|index)_?key$/i;
/** Names that say where a secret is, or something about it, and not the secret. */
const ABOUT =
  /[_-](?:address|addr|contract|symbol|decimals|file|path|dir|folder|sock|socket|url|uri|host|port|name|type|ttl|expiry|expires|expires_?in|expiration|lifetime|count|limit|method|mode|provider|endpoint|hash|sha256|digest|length|enabled|disabled|prefix|header|issuer|audience|scope|region|version)$/i;
/** Said without a sign in front of it: `PGPASSWORD`, `appsecret`. */
const AT_END = /(?:password|passwd|passphrase|secret|apikey|accesstoken|authtoken|sshpass)$/i;
/** Keys of maps, rows and caches are called so as often. */
const ANY_KEY = /key$/i;
const SECRET_KEY = /(?:api|app|secret|private|access|signing|encryption|master|auth|license|account)_?key$/i;
const KEY_ID = /access_?key_?id$/i;

/** True when a name says that its value is a credential: `GITHUB_TOKEN`, `db_password`, `clientSecret`. */
export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  if (KEY_ID.test(words)) return true;
  if (ABOUT.test(words)) return false;
  if (CREDENTIAL.test(words) || AT_END.test(words)) return !HARMLESS_KEY.test(words);
  return KEY.test(words) && !HARMLESS_KEY.test(words);
}

/** True when a {@link isCredentialName} is one only by a `key` that may be of anything: `storageKey`. */
export function isAnyKey(name: string): boolean {
  return ANY_KEY.test(name) && !SECRET_KEY.test(name.replaceAll(/[.-]/g, "_"));
}
