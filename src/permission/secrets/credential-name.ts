const CREDENTIAL =
  /(?:^|[_.:-])(?:api_?keys?|access_?key(?:_id)?|secrets?|secret_?key|client_?secret|token|auth_?token|password|passwd|passphrase|pass|pw|credentials?|private_?key|signing_?key|encryption_?key|master_?key|auth|authorization|bearer|cookie|jwt|pat|connection_?string)(?:$|[_.:-])/i;
const KEY = /(?:[_-]|^)(?:[a-z0-9]*api)?key$/i;
const HARMLESS_KEY = /(?:public|cache|primary|foreign|sort|partition|index)_?key$/i;
/** Names that say where a secret is, or something about it, and not the secret. */
const ABOUT =
  /[_-](?:file|path|dir|folder|sock|socket|url|uri|host|port|name|type|ttl|expiry|expires|expires_?in|expiration|lifetime|count|limit|method|mode|provider|endpoint|hash|sha256|digest|length|enabled|disabled|prefix|header|issuer|audience|scope|region|version)$/i;
const KEY_ID = /access_?key_?id$/i;

/** Whether the name of a variable or setting says that its value is a credential: `GITHUB_TOKEN`, `db_password`, `npm_config__auth`. */
export function isCredentialName(name: string): boolean {
  if (KEY_ID.test(name)) return true;
  if (ABOUT.test(name)) return false;
  if (CREDENTIAL.test(name)) return !HARMLESS_KEY.test(name);
  return KEY.test(name) && !HARMLESS_KEY.test(name);
}
