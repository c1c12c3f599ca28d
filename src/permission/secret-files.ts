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
  if (!HINT.test(plain)) return undefined;
  return PATTERNS.find(({ compiled }) => compiled.matches(plain))?.pattern;
}

const PATTERNS = SECRET_FILES.map((pattern) => ({ pattern, compiled: new PathPattern(pattern) }));

/** True when a text could name a secret file at all: a quick look. */
export function mayShowSecret(text: string): boolean {
  return HINT.test(text.toLowerCase());
}

/** A quick look before the patterns are tried. */
const HINT =
  /\.env|\.(?:pem|key|p12|pfx|jks|keystore)(?!\w)|id_[rde]|\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.docker|gcloud|netrc|\.npmrc|\.pypirc|\.pgpass|credentials|htpasswd|vault|environ|shadow/;

/** Names a glob of the shell is tried on. */
const EXAMPLES = [
  ".env",
  ".env.local",
  ".env.production",
  "id_rsa",
  "id_ed25519",
  ".netrc",
  ".npmrc",
  "server.pem",
  "server.key",
  ".git-credentials",
];

/**
 * The secret file that a word of a command names, as far as the word shows it: as a path, behind `=`, `:`,
 * `@` or `,`, or as a glob. A bare `*` shows nothing.
 */
export function secretInWord(word: string, isGlob: boolean): string | undefined {
  if (!isGlob && !mayShowSecret(word)) return undefined;
  const pieces = /[=:@,]/.test(word) ? new Set([word, ...word.split(/[=:@,]/)]) : [word];
  for (const piece of pieces) {
    if (piece === "") continue;
    const found =
      secretPattern(piece) ??
      (piece.startsWith("-") ? secretPattern(piece.replace(/^-+[A-Za-z]?/, "")) : undefined);
    if (found !== undefined) return found;
    if (!isGlob) continue;
    const last = lastPart(piece);
    if (!/[*?[]/.test(last) || /^[*?]+(?:\.(?!e|p|k)\w*)?$/.test(last)) continue;
    const hidden = last.startsWith(".") || last.startsWith("[");
    const example = EXAMPLES.find((name) => (hidden || !name.startsWith(".")) && globFits(last, name));
    if (example !== undefined) return example;
  }
  return undefined;
}

/** True when a glob of the shell could stand for `name`. Brackets count as any one character. */
export function globFits(glob: string, name: string): boolean {
  const pattern = glob.includes("[") ? glob.replaceAll(/\[[^\]]*\]/g, "?") : glob;
  let at = 0;
  let place = 0;
  let star = -1;
  let mark = 0;
  while (at < name.length) {
    const want = pattern.charAt(place);
    if (want === "?" || (want !== "*" && want !== "" && want === name.charAt(at))) {
      at++;
      place++;
    } else if (want === "*") {
      star = place++;
      mark = at;
    } else if (star !== -1) {
      place = star + 1;
      at = ++mark;
    } else return false;
  }
  while (pattern.charAt(place) === "*") place++;
  return place === pattern.length;
}
