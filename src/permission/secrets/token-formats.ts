/**
 * Token formats of the twenty most used services, and JSON Web Tokens: the kind in the mark, then a pattern.
 * Every repetition is bounded, and a failed match costs a bounded number of steps. Older keys of OpenAI, and
 * those of services with the same API, are `api-key`.
 */
const TOKENS = String.raw`
anthropic-key sk-ant-[\w-]{16,4096}
openai-key sk-(?:proj|svcacct|admin)-[\w-]{16,4096}
api-key sk-(?:or-v1-)?(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{32,4096}
google-key AIza[\w-]{30,4096}
google-token ya29\.[\w-]{16,4096}(?:\.[\w-]{1,4096}){0,3}
google-client-secret GOCSPX-[\w-]{20,4096}
aws-key-id A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])
azure-secret [\w.~-]{3}[78]Q~[\w.~-]{30,100}[\w~-]
github-token gh[oprsu]_[\w-]{20,4096}|github_pat_\w{20,4096}
gitlab-token gl(?:pat|ptt|rt|dt|ft|cbt|oas|soat|imt|agent)-[\w-]{16,4096}(?:\.[\w-]{1,100}){0,4}
slack-token xox[a-z](?:\.xox[bp])?-[\w-]{10,4096}|xapp-[\w-]{20,4096}
stripe-key [rs]k_(?:live|test)_[A-Za-z0-9]{10,4096}
stripe-webhook-secret whsec_[A-Za-z0-9+/]{24,200}={0,2}
npm-token npm_[A-Za-z0-9]{30,200}
pypi-token pypi-AgE[\w-]{20,4096}
docker-token dckr_[op]at_[\w-]{20,200}
huggingface-token hf_[A-Za-z0-9]{30,200}
sendgrid-key SG\.[\w-]{16,100}\.[\w-]{16,200}
twilio-key SK[0-9a-f]{32}(?![A-Za-z0-9])
digitalocean-token do[opr]_v1_[0-9a-f]{40,200}
telegram-token \d{8,12}:AA[\w-]{30,100}
shopify-token shp(?:at|ca|pa|ss)_[A-Za-z0-9]{24,200}
atlassian-token AT[AC]TT3[\w=-]{40,4096}
jwt eyJ[\w-]{14,4096}\.[\w-]{8,8192}(?:\.[\w-]{1,4096}){0,3}`;

/** A token starts here. Before it there may be an escape of JSON, such as `\n`. */
const START = String.raw`(?<![\w-](?<!\\[nrt]))`;

/** The first group is the place of a secret, and remains. */
const FORMATS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ...TOKENS.trim()
    .split("\n")
    .map((line): [string, RegExp] => {
      const [kind = "", pattern = ""] = line.split(" ");
      return [kind, new RegExp(`${START}()(?:${pattern})`, "g")];
    }),
  [
    "aws-secret-key",
    /((?:secret_?access_?key|session_?token)["']?\s{0,4}[:=]\s{0,4}["']?)[A-Za-z0-9/+]{40,4096}={0,2}/gi,
  ],
  ["azure-key", /(A(?:ccount|ccess)Key=)[A-Za-z0-9+/]{40,200}={0,2}/g],
  ["slack-webhook", /(hooks\.slack\.com\/(?:services|workflows|triggers)\/)[\w/-]{16,200}/g],
  ["discord-webhook", /(\/api\/webhooks\/\d{8,24}\/)[\w-]{24,200}/g],
  ["npm-token", /(:_authToken\s{0,4}=\s{0,4}"?)[\w+/=.-]{16,4096}/g],
];

/** Replaces everything in the format of a token with `mark(kind)`. */
export function replaceTokens(text: string, mark: (kind: string) => string): string {
  return FORMATS.reduce(
    (done, [kind, pattern]) => done.replace(pattern, (_all, place: string) => place + mark(kind)),
    text,
  );
}
