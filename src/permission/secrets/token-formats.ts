/** The kind in the mark, and a pattern. With two groups, only the second is the secret. */
type TokenFormat = readonly [kind: string, pattern: RegExp];

/** A token starts here. Before it there may be an escape of JSON, such as `\n`. */
const START = "(?<![\\w-](?<!\\\\[nrt]))";

function token(kind: string, pattern: string): TokenFormat {
  return [kind, new RegExp(START + pattern, "g")];
}

/**
 * Token formats of the twenty most used services, and JSON Web Tokens. Every repetition is bounded, and a
 * failed match costs a bounded number of steps.
 */
const FORMATS: readonly TokenFormat[] = [
  token("anthropic-key", "sk-ant-[\\w-]{16,4096}"),
  token("openai-key", "sk-(?:proj|svcacct|admin)-[\\w-]{16,4096}"),
  // Older keys of OpenAI, and those of services with the same API.
  token("api-key", "sk-(?:or-v1-)?(?=[A-Za-z]{0,40}\\d)[A-Za-z0-9]{32,4096}"),
  token("google-key", "AIza[\\w-]{30,4096}"),
  token("google-token", "ya29\\.[\\w-]{16,4096}(?:\\.[\\w-]{1,4096}){0,3}"),
  token("google-client-secret", "GOCSPX-[\\w-]{20,4096}"),
  token("aws-key-id", "A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
  [
    "aws-secret-key",
    /((?:secret_?access_?key|session_?token)["']?\s{0,4}[:=]\s{0,4}["']?)([A-Za-z0-9/+]{40,4096}={0,2})/gi,
  ],
  ["azure-key", /(A(?:ccount|ccess)Key=)([A-Za-z0-9+/]{40,200}={0,2})/g],
  token("azure-secret", "[\\w.~-]{3}[78]Q~[\\w.~-]{30,100}[\\w~-]"),
  token("github-token", "gh[oprsu]_[\\w-]{20,4096}"),
  token("github-token", "github_pat_\\w{20,4096}"),
  token(
    "gitlab-token",
    "gl(?:pat|ptt|rt|dt|ft|cbt|oas|soat|imt|agent)-[\\w-]{16,4096}(?:\\.[\\w-]{1,100}){0,4}",
  ),
  token("slack-token", "xox[a-z](?:\\.xox[bp])?-[\\w-]{10,4096}"),
  token("slack-token", "xapp-[\\w-]{20,4096}"),
  ["slack-webhook", /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)([\w/-]{16,200})/g],
  ["discord-webhook", /(\/api\/webhooks\/\d{8,24}\/)([\w-]{24,200})/g],
  token("stripe-key", "[rs]k_(?:live|test)_[A-Za-z0-9]{10,4096}"),
  token("stripe-webhook-secret", "whsec_[A-Za-z0-9+/]{24,200}={0,2}"),
  token("npm-token", "npm_[A-Za-z0-9]{30,200}"),
  ["npm-token", /(:_authToken\s{0,4}=\s{0,4}"?)([\w+/=.-]{16,4096})/g],
  token("pypi-token", "pypi-AgE[\\w-]{20,4096}"),
  token("docker-token", "dckr_[op]at_[\\w-]{20,200}"),
  token("huggingface-token", "hf_[A-Za-z0-9]{30,200}"),
  token("sendgrid-key", "SG\\.[\\w-]{16,100}\\.[\\w-]{16,200}"),
  token("twilio-key", "SK[0-9a-f]{32}(?![A-Za-z0-9])"),
  token("digitalocean-token", "do[opr]_v1_[0-9a-f]{40,200}"),
  token("telegram-token", "\\d{8,12}:AA[\\w-]{30,100}"),
  token("shopify-token", "shp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,200}"),
  token("atlassian-token", "AT[AC]TT3[\\w=-]{40,4096}"),
  token("jwt", "eyJ[\\w-]{14,4096}\\.[\\w-]{8,8192}(?:\\.[\\w-]{1,4096}){0,3}"),
];

/** Replaces everything in the format of a token with `mark(kind)`. */
export function replaceTokens(text: string, mark: (kind: string) => string): string {
  let result = text;
  for (const [kind, pattern] of FORMATS)
    result = result.replace(pattern, (_all, before: unknown, secret: unknown) =>
      typeof before === "string" && typeof secret === "string" ? before + mark(kind) : mark(kind),
    );
  return result;
}
