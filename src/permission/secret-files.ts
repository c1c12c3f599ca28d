import { matchesText, wordSet } from "./match-text.ts";
import { lastPart, PathPattern } from "./paths/match-path.ts";

/** Files with keys: every tool asks before it touches one. The visible default rules about file names. */
export const SECRET_FILES: readonly string[] = [
  ...wordSet(`
    **/.env **/.env.* **/.envrc **/*.pem **/*.key **/*.p12 **/*.pfx **/*.jks **/*.keystore
    **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/.ssh/** **/.gnupg/** **/.aws/** **/.azure/**
    **/.kube/config **/.docker/config.json **/.config/gcloud/** **/.netrc **/_netrc **/.npmrc **/.pypirc
    **/.pgpass **/.git-credentials **/.htpasswd **/.vault-token
    /proc/**/environ /etc/shadow /etc/gshadow`),
];

/** Names like those that hold no keys. */
const HARMLESS =
  /(?:^|\/)\.env\.(?:example|sample|template|dist|defaults|schema)$|\.pub$|(?:^|\/)\.ssh\/(?:config|known_hosts)$/;

/** The pattern of {@link SECRET_FILES} that describes a path (written with `/`), if any. */
export function secretPattern(path: string): string | undefined {
  const plain = path.toLowerCase();
  if (HARMLESS.test(plain)) return undefined;
  return PATTERNS.find(({ compiled }) => compiled.matches(plain))?.pattern;
}

const PATTERNS = SECRET_FILES.map((pattern) => ({ pattern, compiled: new PathPattern(pattern) }));

/** Names that a pattern for file names is tried on. */
const EXAMPLES = [...wordSet(".env .env.local id_rsa id_ed25519 .netrc .npmrc server.pem server.key")];

/**
 * The secret file that a word names: as a path, behind `=`, `:`, `@` or `,`, behind the letter of an option,
 * or as a pattern that shows part of the name (a bare `*` does not).
 */
export function secretInWord(word: string): string | undefined {
  for (const piece of new Set([word, ...word.split(/[=:@,]/), word.replace(/^-+[A-Za-z]?/, "")])) {
    const found = secretPattern(piece) ?? secretInGlob(lastPart(piece));
    if (found !== undefined) return found;
  }
  return undefined;
}

function secretInGlob(glob: string): string | undefined {
  if (!/[*?[]/.test(glob) || /^[*?]+(?:\.(?!e|p|k)\w*)?$/.test(glob)) return undefined;
  // A choice of characters may be any of them.
  const pattern = glob.replaceAll(/\[[^\]]*\]|\?/g, "*");
  const isHidden = /^[.[]/.test(glob);
  return EXAMPLES.find((name) => (isHidden || !name.startsWith(".")) && matchesText(pattern, name));
}
