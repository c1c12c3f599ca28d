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

/** Whether the name of a variable or setting says that its value is a credential: `GITHUB_TOKEN`, `db_password`, `clientSecret`. */
export function isCredentialName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])(?=[A-Z])/g, "$1_");
  if (KEY_ID.test(words)) return true;
  if (ABOUT.test(words)) return false;
  if (CREDENTIAL.test(words) || AT_END.test(words)) return !HARMLESS_KEY.test(words);
  return KEY.test(words) && !HARMLESS_KEY.test(words);
}

/** Whether a name of {@link isCredentialName} says it only by a `key` that may be one of anything: `storageKey`. */
export function isAnyKey(name: string): boolean {
  return ANY_KEY.test(name) && !SECRET_KEY.test(name.replaceAll(/[.-]/g, "_"));
}
