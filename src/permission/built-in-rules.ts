import { HARMFUL_OPTIONS, LOOKING_PROGRAMS } from "./commands/program-options.ts";
import { lastPart, matchesText, PathPattern, wordSet } from "./match-text.ts";
import type { OriginRule } from "./rule.ts";

/** Tools that change nothing of the user's, or whose calls are judged one by one. */
export const BUILT_IN_RULES: readonly OriginRule[] = ["skill", "task", "todo", "job"].map((tool) => ({
  tool,
  action: "allow",
  origin: "built-in",
}));

/** The built-in rules in readable form, one per line, and the options that no `*` of a rule covers. */
export function describeDefaults(): readonly string[] {
  return [
    ...BUILT_IN_RULES.map(({ tool, action }) => `${action} ${tool}`),
    ...LOOKING_PROGRAMS.map(({ name, more }) => {
      const without = more.length === 0 ? "" : `, without ${more.join(" ")}`;
      return `allow ${name === "sed" ? "sed -n LINESp" : name} (inside the workspace${without})`;
    }),
    ...SECRET_FILES.map((pattern) => `ask ${pattern} (every tool)`),
    ...HARMFUL_OPTIONS.map((line) => `no * covers ${line.replace(/:\s/, " ").replaceAll(/\s+/g, " ")}`),
  ];
}

/** Files with keys: every tool asks before it touches one. The visible default rules about file names. */
export const SECRET_FILES: readonly string[] = [
  ...wordSet(`
    **/.env **/.env.* **/.envrc **/*.pem **/*.key **/*.p12 **/*.pfx **/*.jks **/*.keystore
    **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/.ssh/** **/.gnupg/** **/.aws/** **/.azure/**
    **/.kube/config **/.docker/config.json **/.config/gcloud/** **/.netrc **/_netrc **/.npmrc **/.pypirc
    **/.pgpass **/.git-credentials **/.htpasswd **/.vault-token **/nano-agent/keys.json
    /proc/**/environ /etc/shadow /etc/gshadow`),
];

const HARMLESS_FILES =
  /(?:^|\/)\.env\.(?:example|sample|template|dist|defaults|schema)$|\.pub$|(?:^|\/)\.ssh\/(?:config|known_hosts)$/;

export function secretPattern(path: string): string | undefined {
  const plain = path.toLowerCase();
  if (HARMLESS_FILES.test(plain)) return undefined;
  return PATTERNS.find(({ compiled }) => compiled.matches(plain))?.pattern;
}

const PATTERNS = SECRET_FILES.map((pattern) => ({ pattern, compiled: new PathPattern(pattern) }));

const SECRET_NAMES = [...wordSet(".env .env.local id_rsa id_ed25519 .netrc .npmrc server.pem server.key")];

/** The secret file that a word names: as a path, in a part of it, or by a pattern that reveals part of it. */
export function secretInWord(word: string): string | undefined {
  for (const piece of new Set([word, ...word.split(/[=:@,]/), word.replace(/^-+[A-Za-z]?/, "")])) {
    const found = secretPattern(piece) ?? secretInGlob(lastPart(piece));
    if (found !== undefined) return found;
  }
  return undefined;
}

function secretInGlob(glob: string): string | undefined {
  if (!/[*?[]/.test(glob) || /^[*?]+(?:\.(?!e|p|k)\w*)?$/.test(glob)) return undefined;
  const pattern = glob.replaceAll(/\[[^\]]*\]|\?/g, "*");
  const isHidden = /^[.[]/.test(glob);
  return SECRET_NAMES.find((name) => (isHidden || !name.startsWith(".")) && matchesText(pattern, name));
}
