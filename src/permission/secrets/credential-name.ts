/** Words that name a credential. */
const CREDENTIAL =
  /(?:^|[_.:-])(?:secrets?|tokens?|password|passwd|passphrase|pass|pwd?|psk|credentials?|auth|authorization|bearer|cookie|jwt|pat)(?:$|[_.:-])/i;
const AT_END =
  /(?:password|passwd|passphrase|secret|apikey|token|sshpass|access_?key_?id|connection_?string)$/i;
const KEY = /(?:^|[_.:-])(?:[a-z0-9]*api)?key$/i;
const HARMLESS_KEY = /(?:public|cache|primary|foreign|sort|partition|index)_?key$/i;
/** A place, a limit or a property of a credential. */
const ABOUT =
  /[_-](?:address|file|path|dir|folder|sock|socket|url|uri|host|port|name|type|ttl|expiry|expires|expires_?in|count|limit|method|mode|provider|endpoint|enabled|disabled|prefix|header|issuer|audience|scope|region|version)$|(?:^|_)max_tokens$/i;

/** True when a name says that its value is a credential: `GITHUB_TOKEN`, `db_password`, `clientSecret`. */
export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  if (ABOUT.test(words) || HARMLESS_KEY.test(words)) return false;
  return CREDENTIAL.test(words) || AT_END.test(words) || KEY.test(words);
}

/** Shorter values are words as often as secrets. */
const SHORTEST = 8;
/** A value of this length is a secret without a digit or a sign too. */
const LONG = 16;
const PATH = /^(?:~|\.{1,2})\/[\w./@ -]*$|^\/(?:[\w.@ -]+\/)*[\w.@ -]*\.[a-z]{1,5}$|^[A-Za-z]:\\|^file:/;
const SYSTEM_PATH =
  /^\/(?:usr|home|root|etc|var|run|tmp|opt|Users|private|mnt|srv|dev|proc|s?bin|lib|nix|snap)\//;

/** True when the value of a credential can be a secret: not a path, a short word or a number. */
export function isSecretValue(value: string): boolean {
  if (value.length < SHORTEST || PATH.test(value) || SYSTEM_PATH.test(value)) return false;
  if (new Set(value).size < 5) return false;
  const isMixed = /\d/.test(value) && /[A-Za-z]/.test(value);
  return value.length >= LONG || isMixed || /[a-z][A-Z]|[^\w.\s-]/.test(value);
}
