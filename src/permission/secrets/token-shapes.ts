import { Buffer } from "node:buffer";
import { isCode, isPlaceholder, looksGenerated, looksRandom } from "./secret-value.ts";

/** One format of a credential, by which it is known without its value. */
export interface TokenShape {
  /** The kind that stands in the mark. */
  readonly kind: string;
  /** One of these is in every match: a text without any is not searched. Absent: always searched. */
  readonly hints?: readonly string[];
  /**
   * Global. Without groups the whole match is the secret; with two groups the first stays and the second is
   * the secret. Written so that a failed match costs a bounded number of steps: one run of one class, or
   * bounded repetitions.
   */
  readonly pattern: RegExp;
  /** A last look at a match: the secret, what stood before, the character behind. Default: it counts. */
  readonly accepts?: (secret: string, before: string, next: string) => boolean;
}

/** The rest of a token, dashes, underscores and inner dots included. */
const WHOLE = "(?:[\\w-]|\\.(?=[\\w-]))";
/** Longer than any token, and short enough for the engine. */
const LONGEST = 8192;
const START = "(?<![A-Za-z0-9_-])";

/** `prefix` and at least `min` further characters, to the end of the token. */
function prefixed(kind: string, prefix: string, min: number): TokenShape {
  return { kind, hints: [prefix], pattern: new RegExp(`${START}${prefix}${WHOLE}{${min},${LONGEST}}`, "g") };
}

function anyPrefix(kind: string, prefixes: readonly string[], min: number): TokenShape {
  return {
    kind,
    hints: prefixes,
    pattern: new RegExp(`${START}(?:${prefixes.join("|")})${WHOLE}{${min},${LONGEST}}`, "g"),
  };
}

/** User and password in Base64. */
function isLogin(secret: string): boolean {
  return /^[ -~]+:[ -~]+$/.test(Buffer.from(secret, "base64").toString("latin1"));
}

/** True when a text has a digit beside letters: words joined by dashes have none. */
const hasDigit = (secret: string): boolean => /\d/.test(secret) && !isPlaceholder(secret);

const VENDORS: readonly TokenShape[] = [
  prefixed("anthropic-key", "sk-ant-", 12),
  anyPrefix("openai-key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], 16),
  anyPrefix("openrouter-key", ["sk-or-v1-", "sk-or-"], 24),
  { ...prefixed("api-key", "sk-[A-Za-z0-9]{18}", 0), hints: ["sk-"], accepts: hasDigit },
  { kind: "google-key", hints: ["AIza"], pattern: new RegExp(`${START}AIza[\\w-]{26,}`, "g") },
  { kind: "google-token", hints: ["ya29."], pattern: new RegExp(`${START}ya29\\.[\\w-]{16}${WHOLE}*`, "g") },
  { kind: "google-token", hints: ["1//0"], pattern: new RegExp(`${START}1//0[\\w-]{30,}`, "g") },
  prefixed("google-client-secret", "GOCSPX-", 16),
  {
    kind: "aws-key-id",
    hints: ["AKIA", "ASIA", "ABIA", "ACCA"],
    pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  {
    kind: "aws-secret-key",
    pattern:
      /(secret_?(?:access_?)?key["']?\s{0,8}[:=]?>?\s{0,8}["']?)([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/gi,
    accepts: looksRandom,
  },
  {
    kind: "aws-session-token",
    pattern: /(session_?token["']?\s{0,8}[:=]>?\s{0,8}["']?)([A-Za-z0-9/+]{100,}={0,2})/gi,
  },
  { kind: "aws-bedrock-key", hints: ["ABSK"], pattern: /(?<![A-Za-z0-9])ABSK[A-Za-z0-9+/]{60,}={0,2}/g },
  anyPrefix("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], 16),
  prefixed("github-token", "github_pat_", 16),
  anyPrefix(
    "gitlab-token",
    ["glpat-", "glptt-", "glrt-", "gldt-", "glft-", "glcbt-", "gloas-", "glsoat-", "glimt-", "glagent-"],
    16,
  ),
  anyPrefix(
    "slack-token",
    ["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
    10,
  ),
  anyPrefix("slack-token", ["xapp-", "xoxe\\.xox[bp]-", "xwfp-"], 10),
  {
    kind: "slack-webhook",
    hints: ["hooks.slack.com/"],
    pattern: /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)([\w/-]{16,})/g,
  },
  {
    kind: "discord-webhook",
    hints: ["/api/webhooks/"],
    pattern: /(\/api\/webhooks\/\d{8,24}\/)([\w-]{24,})/g,
  },
  anyPrefix("stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_"], 10),
  { kind: "webhook-secret", hints: ["whsec_"], pattern: /(?<![A-Za-z0-9_])whsec_[A-Za-z0-9+/]{16,}={0,2}/g },
  { kind: "npm-token", hints: ["npm_"], pattern: new RegExp(`${START}npm_[A-Za-z0-9]{28}[\\w-]*`, "g") },
  prefixed("pypi-token", "pypi-AgE", 20),
  {
    kind: "huggingface-token",
    hints: ["hf_"],
    pattern: new RegExp(`${START}hf_[A-Za-z0-9]{24}[\\w-]*`, "g"),
  },
  { kind: "groq-key", hints: ["gsk_"], pattern: new RegExp(`${START}gsk_[A-Za-z0-9]{24}[\\w-]*`, "g") },
  anyPrefix("api-key", ["xai-", "pplx-", "nvapi-", "tvly-", "csk-", "lsv2_pt_", "lsv2_sk_", "r8_"], 28),
  { kind: "sendgrid-key", hints: ["SG."], pattern: /(?<![\w-])SG\.[\w-]{16,}\.[\w-]{8,}/g },
  { kind: "twilio-key", pattern: /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g },
  anyPrefix("digitalocean-token", ["dop_v1_", "doo_v1_", "dor_v1_"], 24),
  { kind: "telegram-token", hints: [":AA"], pattern: /(?<![A-Za-z0-9])\d{6,12}:AA[\w-]{24,}/g },
  { kind: "azure-secret", hints: ["Q~"], pattern: /(?<![\w.~-])[\w.~-]{3}[78]Q~[\w.~-]{28,}/g },
  {
    kind: "azure-key",
    hints: ["AccountKey=", "AccessKey="],
    pattern: /(A(?:ccount|ccess)Key=)([A-Za-z0-9+/]{32,}={0,2})/g,
  },
  {
    kind: "signature",
    hints: ["sig=", "Signature="],
    pattern: /([?&](?:amp;)?(?:sig|X-(?:Amz|Goog)-Signature)=)([A-Za-z0-9%+/_-]{30,}=?)/g,
  },
  anyPrefix("shopify-token", ["shpat_", "shpca_", "shppa_", "shpss_"], 24),
  anyPrefix("square-token", ["sq0atp-", "sq0csp-", "sq0idp-"], 20),
  { kind: "mailchimp-key", hints: ["-us"], pattern: /(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![\w-])/g },
  { kind: "databricks-token", hints: ["dapi"], pattern: /(?<![A-Za-z0-9])dapi[0-9a-f]{32}(?:-\d)?/g },
  prefixed("newrelic-key", "NRAK-", 20),
  anyPrefix("sentry-token", ["sntrys_", "sntryu_"], 24),
  prefixed("linear-key", "lin_api_", 24),
  prefixed("notion-token", "ntn_", 36),
  { kind: "atlassian-token", hints: ["ATATT3", "ATCTT3"], pattern: /(?<![\w-])AT[AC]TT3[\w=-]{40,}/g },
  prefixed("postman-key", "PMAK-", 40),
  anyPrefix("vault-token", ["hvs\\.", "hvb\\.", "hvr\\."], 24),
  {
    kind: "terraform-token",
    hints: [".atlasv1."],
    pattern: /(?<![\w.-])[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}/g,
  },
  anyPrefix("grafana-token", ["glsa_", "glc_"], 32),
  anyPrefix("planetscale-token", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], 24),
  anyPrefix("supabase-key", ["sbp_", "sb_secret_"], 24),
  anyPrefix("docker-token", ["dckr_pat_", "dckr_oat_"], 20),
  prefixed("rubygems-key", "rubygems_", 40),
  prefixed("doppler-token", "dp\\.(?:pt|st|ct|sa|scim|audit)\\.", 32),
  prefixed("age-key", "AGE-SECRET-KEY-1", 40),
  { kind: "airtable-token", pattern: /(?<![\w-])pat[A-Za-z0-9]{14}\.[0-9a-f]{64}/g },
  prefixed("onepassword-token", "ops_eyJ", 40),
];

const CONTEXTS: readonly TokenShape[] = [
  {
    kind: "authorization",
    pattern:
      /(authorization["']?\s{0,4}(?:[:=]|=>)\s{0,4}["'`]?(?:bearer|basic|token|apikey|api-key|digest|negotiate|bot)\s{1,4})([\w.~+/=:-]{8,})/gi,
    accepts: (secret, before, next) =>
      !isCode(secret, next) && (looksRandom(secret) || (/basic\s+$/i.test(before) && isLogin(secret))),
  },
  {
    kind: "authorization",
    pattern: /(authorization["']?\s{0,4}(?:[:=]|=>)\s{0,4}["'`]?)([\w.~+/=:-]{8,})/gi,
    accepts: (secret, before, next) =>
      !isCode(secret, next) && (/["'`]$/.test(before) ? looksRandom(secret) : looksGenerated(secret)),
  },
  {
    kind: "authorization",
    pattern: /(\b(?:bearer|basic)\s{1,4})([\w.~+/=-]{12,})/gi,
    accepts: (secret, before, next) =>
      !isCode(secret, next) && (looksRandom(secret) || (/^basic/i.test(before) && isLogin(secret))),
  },
  {
    kind: "api-key",
    pattern:
      /((?:x-api-key|x-goog-api-key|api-key|x-auth-token|private-token|x-vault-token|x-access-token|x-csrf-token|ocp-apim-subscription-key)["']?\s{0,4}[:=]\s{0,4}["']?)([\w.~+/=-]{8,})/gi,
    accepts: (secret, _before, next) => !isCode(secret, next) && looksRandom(secret),
  },
  {
    kind: "cookie",
    pattern:
      /(\bcookie["']?\s{0,4}:\s{0,4}["']?(?:[^\s"'=;]{1,64}=[^\s"';]{0,512};\s?){0,16}[^\s"'=;]{1,64}=)([^\s"';,«»]{12,})/gi,
    accepts: looksGenerated,
  },
  {
    // A parameter of an address, or an option of a command line.
    kind: "credential",
    pattern:
      /((?:[?&;]|--)(?:access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|token|api[_-]?key|apikey|key|secret|client[_-]?secret|password|passwd|session[_-]?id|sid|auth|signature)(?:=|(?<=--[\w-]{3,20})\s{1,2})["']?)([\w.~+/%-]{8,})/gi,
    accepts: (secret, _before, next) => !isCode(secret, next) && looksRandom(secret),
  },
  {
    // The login of curl and its like.
    kind: "password",
    pattern: /(\s(?:-u|--user|--proxy-user)[\s=]{0,2}["']?[\w.@-]{1,64}:)([^\s"'\\«»]{6,256})/g,
    accepts: looksRandom,
  },
  {
    // Programs with an option of their own for it.
    kind: "password",
    hints: ["sshpass", "redis-cli", "login", "mysql", "pass:"],
    pattern:
      /((?:\bsshpass\s{1,4}-p|\bredis-cli\b[^\n;|&]{0,200}?\s-a|\blogin\b[^\n;|&]{0,200}?\s-p|\bmysql(?:dump|admin)?\b[^\n;|&]{0,200}?\s-p(?=\S)|\s-pass(?:in|out)?\s{1,4}pass:)\s{0,4}["']?)([^\s"'\\«»]{6,256})/g,
    accepts: looksRandom,
  },
  {
    // As an option, and in the connection string of a database: any character may stand in it.
    kind: "password",
    hints: ["assw", "Pwd", "pwd", "PWD"],
    pattern:
      /((?:--(?:[a-z]{2,12}-)?(?:password|passwd)(?:=|\s{1,2})|[;?&](?:password|pwd)=)["']?)([^\s"'\\;&«»]{8,256})/gi,
    accepts: (secret, _before, next) => !isCode(secret, next) && looksRandom(secret),
  },
  {
    kind: "credential",
    hints: ["</"],
    pattern: /(<[\w.:-]{0,40}(?:password|passwd|secret|token|api-?key)>)([^<>\s«»]{8,512})(?=<\/)/gi,
    accepts: looksRandom,
  },
  {
    kind: "npm-token",
    hints: ["_auth", "_password"],
    pattern: /((?::|^|\s)_(?:authToken|auth|password)\s{0,4}=\s{0,4}["']?)([\w.~+/=-]{8,})/gm,
    accepts: (secret, _before, next) => !isCode(secret, next) && !isPlaceholder(secret),
  },
  {
    kind: "password",
    hints: ["machine "],
    pattern:
      /(machine\s{1,8}\S{1,256}\s{1,8}login\s{1,8}\S{1,256}\s{1,8}password\s{1,8})([^\s"'\\«»]{1,256})/g,
    accepts: (secret) => !isPlaceholder(secret),
  },
  {
    // A line of .pgpass: host, port, database, user, password.
    kind: "password",
    pattern: /(^[^\s:]{1,255}:(?:\d{1,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:)([^\s«»]{4,256})$/gm,
    accepts: (secret) => !isPlaceholder(secret),
  },
  {
    kind: "password-hash",
    hints: ["$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$gy$", "$apr1$", "$argon2"],
    pattern: /\$(?:1|2[abxy]?|5|6|7|y|gy|apr1|argon2(?:id|i|d))\$[\w./$,=+]{20,256}/g,
  },
  {
    kind: "private-key",
    hints: ["Private-Lines: "],
    pattern: /(Private-Lines: \d{1,4}\r?\n)((?:[A-Za-z0-9+/=]{1,80}\r?\n?){1,400})/g,
  },
  {
    kind: "registry-login",
    hints: ['"auth"'],
    pattern: /("auth"\s{0,4}:\s{0,4}")([A-Za-z0-9+/]{8,}={0,2})(?=")/g,
    accepts: (secret) => Buffer.from(secret, "base64").includes(":"),
  },
  {
    kind: "private-key",
    hints: ["client-key-data"],
    pattern: /(client-key-data["']?:\s{0,4}["']?)([A-Za-z0-9+/=]{40,})/g,
  },
];

const JWT: TokenShape = {
  kind: "jwt",
  hints: ["eyJ"],
  pattern: /(?<![\w-])eyJ[\w-]{14,}\.[\w-]{8,}(?:\.[\w-]+){0,3}/g,
};

/** The formats that are known. What is more particular stands first. */
export const TOKEN_SHAPES: readonly TokenShape[] = [...VENDORS, JWT, ...CONTEXTS];

/** One look for all of them: most texts hold none. */
const ANY_HINT = new RegExp(
  TOKEN_SHAPES.flatMap(({ hints = [] }) => hints)
    .map((hint) => literal(hint).replaceAll(/[.*+?^$()[\]{}|\\/]/g, "\\$&"))
    .join("|"),
);

/** Replaces what has the shape of a credential by `mark(kind)`. Time is linear in the text. */
export function replaceTokens(text: string, mark: (kind: string) => string): string {
  let result = text;
  const hasHint = ANY_HINT.test(text);
  for (const { kind, hints, pattern, accepts } of TOKEN_SHAPES) {
    if (hints !== undefined && !(hasHint && hints.some((hint) => result.includes(literal(hint))))) continue;
    result = result.replace(pattern, (all: string, ...groups: readonly unknown[]) => {
      const [first, second] = groups;
      const hasParts = typeof first === "string" && typeof second === "string";
      const [before, secret] = hasParts ? [first, second] : ["", all];
      const [offset, whole] = groups.slice(hasParts ? 2 : 0) as [number, string];
      const next = whole[offset + all.length] ?? "";
      if (accepts?.(secret, before, next) === false) return all;
      return `${before}${mark(kind)}`;
    });
  }
  return result;
}

/** Hints may be patterns: what stands before the first special character decides. */
function literal(hint: string): string {
  const special = hint.search(/[\\[(]/);
  return special === -1 ? hint : hint.slice(0, special);
}
