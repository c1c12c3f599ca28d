import { wordSet } from "./match-text.ts";
import { lastPart, PathPattern } from "./paths/match-path.ts";

/** Files with keys: every tool asks before it touches one. The visible default rules about file names. */
export const SECRET_FILES: readonly string[] = [
  "**/.env",
  "**/.env.*",
  "**/.envrc",
  "**/*.pem",
  "**/*.key",
  "**/*.p12",
  "**/*.pfx",
  "**/*.jks",
  "**/*.keystore",
  "**/id_rsa",
  "**/id_dsa",
  "**/id_ecdsa",
  "**/id_ed25519",
  "**/.ssh/**",
  "**/.gnupg/**",
  "**/.aws/**",
  "**/.azure/**",
  "**/.kube/config",
  "**/.docker/config.json",
  "**/.config/gcloud/**",
  "**/.netrc",
  "**/_netrc",
  "**/.npmrc",
  "**/.pypirc",
  "**/.pgpass",
  "**/.git-credentials",
  "**/.htpasswd",
  "**/.vault-token",
  "/proc/**/environ",
  "/etc/shadow",
  "/etc/gshadow",
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

/** Programs that show their words, and those whose first operand is an expression. */
const SHOWING = wordSet("echo printf");
const WITH_EXPRESSION = wordSet("awk egrep fgrep grep jq rg sed yq");

/** The secret file that a command names in one of its words: see {@link secretInWord}. */
export function secretInCommand(words: readonly string[]): string | undefined {
  const program = lastPart(words[0] ?? "");
  if (SHOWING.has(program)) return undefined;
  const operand = words.findIndex((word, index) => index > 0 && !word.startsWith("-"));
  const isFileOption = /^(?:-\w*f|--\S*file)$/.test(words[operand - 1] ?? "");
  const expression = WITH_EXPRESSION.has(program) && !isFileOption ? operand : -1;
  return words
    .filter((_, index) => index !== expression)
    .map(secretInWord)
    .find((found) => found !== undefined);
}

/** A quick look before the patterns are tried. */
const HINT =
  /[*?[]|\.env|\.(?:pem|key|p12|pfx|jks|keystore)|id_[rde]|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|gcloud|netrc|\.npmrc|\.pypirc|\.pgpass|credentials|htpasswd|vault|environ|shadow/i;

/** Names that a pattern for file names is tried on. */
const EXAMPLES = [
  ".env",
  ".env.local",
  "id_rsa",
  "id_ed25519",
  ".netrc",
  ".npmrc",
  "server.pem",
  "server.key",
];
const MAX_GLOB = 60;

/**
 * The secret file that a word names: as a path, behind `=`, `:`, `@` or `,`, behind the letter of an option,
 * or as a pattern that shows part of the name (a bare `*` does not).
 */
export function secretInWord(word: string): string | undefined {
  if (!HINT.test(word)) return undefined;
  for (const piece of new Set([word, ...word.split(/[=:@,]/), word.replace(/^-+[A-Za-z]?/, "")])) {
    const found = secretPattern(piece) ?? secretInGlob(lastPart(piece));
    if (found !== undefined) return found;
  }
  return undefined;
}

function secretInGlob(glob: string): string | undefined {
  if (!/[*?[]/.test(glob) || glob.length > MAX_GLOB || /^[*?]+(?:\.(?!e|p|k)\w*)?$/.test(glob))
    return undefined;
  const source = glob.replaceAll(/\[[^\]]*\]|\*+|\?|[^*?[]+|\[/g, (part) =>
    part.startsWith("*") ? ".*" : part === "?" || part.endsWith("]") ? "." : escaped(part),
  );
  const pattern = new RegExp(`^${source}$`, "s");
  const isHidden = /^[.[]/.test(glob);
  return EXAMPLES.find((name) => (isHidden || !name.startsWith(".")) && pattern.test(name));
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
