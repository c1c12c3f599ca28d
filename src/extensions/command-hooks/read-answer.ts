import { type Fields, isRecord, ownValue, safeParse } from "../../core/base/json.ts";
import { truncateMiddle } from "../../core/base/text.ts";
import type { HookCommand, HookVerdict } from "./hook-event.ts";
import { type HookEnd, MAX_OUTPUT } from "./run-hook.ts";

/** The answer of one hook. */
export type HookAnswer = { -readonly [K in keyof HookVerdict]: HookVerdict[K] };

const NOTHING: HookAnswer = { context: [], problems: [] };

/**
 * The answer that the end of a hook means: exit 0 with a JSON object decides, exit 2 blocks with standard
 * error as the reason, anything else is told and blocks nothing.
 */
export function readAnswer(hook: HookCommand, end: HookEnd): HookAnswer {
  const { code, stdout, stderr, failure, isCut } = end;
  const name = hookName(hook);
  if (failure !== undefined) return { ...NOTHING, problems: [`the hook ${name} failed: ${failure}`] };
  if (code === 2) return blocked(hook, stderr);
  if (code !== 0) {
    const said = stderr === "" ? "" : `: ${stderr.slice(0, 500)}`;
    return {
      ...NOTHING,
      problems: [`the hook ${name} ended with ${code}, which blocks nothing (2 does)${said}`],
    };
  }
  if (!stdout.startsWith("{")) return plainText(hook, stdout);
  if (isCut) return { ...NOTHING, problems: [`the hook ${name} answered more than ${MAX_OUTPUT >> 10} KB`] };
  const parsed = safeParse(stdout);
  if (!parsed.ok || !isRecord(parsed.value))
    return { ...NOTHING, problems: [`the hook ${name} answered what is not JSON: ${stdout.slice(0, 200)}`] };
  return decided(name, parsed.value);
}

/** A hook in messages: its command, and where it is written down. */
export function hookName({ command, source }: HookCommand): string {
  return `${JSON.stringify(command.length > 120 ? `${command.slice(0, 119)}…` : command)} of ${source}`;
}

function blocked(hook: HookCommand, stderr: string): HookAnswer {
  const name = hookName(hook);
  const reason = stderr === "" ? `the hook ${name} blocked it` : forModel(stderr);
  // Interpreters end with 2 as well when the script is not there: a person has to know why all is blocked.
  const isMissing = /can't open file|No such file or directory|not found/i.test(stderr);
  const problems = isMissing
    ? [
        `the hook ${name} ended with 2, which blocks. Its own script seems to be missing: ${stderr.slice(0, 300)}`,
      ]
    : [];
  return { decision: "deny", reason, by: name, context: [], problems };
}

/** Plain output is text for the model where something begins, and nobody's business elsewhere. */
function plainText({ event }: HookCommand, stdout: string): HookAnswer {
  const counts = (event === "UserPromptSubmit" || event === "SessionStart") && stdout !== "";
  return counts ? { ...NOTHING, context: [forModel(stdout)] } : NOTHING;
}

const DECISIONS: { readonly [word: string]: "allow" | "ask" | "deny" | undefined } = {
  allow: "allow",
  approve: "allow",
  ask: "ask",
  deny: "deny",
  block: "deny",
};

/** The answer that the value of a handler means; `name` is its extension. */
export function readReturned(name: string, value: unknown): HookAnswer {
  if (value === undefined || value === null) return NOTHING;
  if (isRecord(value)) return decided(name, value);
  return { ...NOTHING, problems: [`the hook of ${name} returned ${typeof value}, which is not an object`] };
}

function decided(name: string, answer: Fields): HookAnswer {
  const specific = isRecord(answer["hookSpecificOutput"]) ? answer["hookSpecificOutput"] : {};
  // Answers to a permission request stand one level deeper.
  const request = isRecord(specific["decision"]) ? specific["decision"] : {};
  const said: HookAnswer = { context: [], problems: [] };
  const problems: string[] = [];
  const word = specific["permissionDecision"] ?? request["behavior"] ?? answer["decision"];
  const decision = ownValue(DECISIONS, word);
  if (decision !== undefined) {
    const reason = firstText(specific["permissionDecisionReason"], request["message"], answer["reason"]);
    Object.assign(said, { decision, by: name }, reason === undefined ? {} : { reason });
  } else if (word !== undefined)
    problems.push(`the hook ${name} decided ${JSON.stringify(word)}; only allow, ask and deny count`);
  const updated = specific["updatedInput"] ?? request["updatedInput"];
  if (isRecord(updated)) {
    said.updatedInput = updated as NonNullable<HookVerdict["updatedInput"]>;
    said.updatedBy = name;
  } else if (updated !== undefined)
    problems.push(`the hook ${name} gave an updatedInput that is not an object`);
  if (answer["continue"] === false)
    said.stop = firstText(answer["stopReason"]) ?? `the hook ${name} ended the run`;
  const context = texts(specific["additionalContext"], answer["additionalContext"]).slice(0, 1);
  return { ...said, context, problems: [...problems, ...texts(answer["systemMessage"])] };
}

function firstText(...values: readonly unknown[]): string | undefined {
  return texts(...values)[0];
}

/** The values that are texts with something in them. */
function texts(...values: readonly unknown[]): readonly string[] {
  return values
    .filter((value): value is string => typeof value === "string" && value.trim() !== "")
    .map(forModel);
}

/** Bytes of one text of a hook that the model reads, as of the result of a tool. */
const MAX_TEXT_BYTES = 50_000;

function forModel(text: string): string {
  return truncateMiddle(text, { maxBytes: MAX_TEXT_BYTES });
}
