import { resolve } from "node:path";
import type { ApprovalRequestEntry, JournalEntry } from "../../core/agent/entries.ts";
import { SessionState } from "../../core/agent/state.ts";
import { defined } from "../../core/base/json.ts";
import type { ApprovalQuestion } from "../../permission/approver.ts";
import type { SessionContent } from "../../session/read-session.ts";
import type { Question } from "../../view/question.ts";
import type { UserPaths } from "../settings/paths.ts";
import type { Settings } from "../settings/settings.ts";
import { askedValue } from "./asked-value.ts";
import type { ShownChange } from "./question-diff.ts";
import { contentOf } from "./shown-content.ts";

/** The questions that a session was left with, as {@link QuestionDesk.leave} shows them. */
export async function openQuestions(
  { entries, header }: Pick<SessionContent, "entries" | "header">,
  paths: UserPaths,
): Promise<readonly Question[]> {
  const settings = { cwd: header?.cwd ?? "", paths };
  const { questionDiff } = await import("./question-diff.ts");
  const signal = new AbortController().signal;
  return Promise.all(
    openApprovals(entries).map(async (asked) => {
      const { name: tool, input } = asked;
      const isKnown = settings.cwd !== "";
      const change = isKnown ? await questionDiff({ tool, input, settings, signal }) : undefined;
      return leftQuestion(asked, change, settings);
    }),
  );
}

/** The calls of a session that wait for approval since an earlier process. */
export function openApprovals(entries: Iterable<JournalEntry>): readonly ApprovalRequestEntry[] {
  const state = new SessionState();
  for (const entry of entries) state.apply(entry);
  const waiting = new Set(state.transcript.pending.map(({ id }) => id));
  return [...state.approvals.values()].filter(({ callId }) => waiting.has(callId));
}

/** The question of an earlier process: the rules it offered ended with that. */
export function leftQuestion(
  asked: ApprovalRequestEntry,
  change: ShownChange | undefined,
  settings: Pick<Settings, "cwd" | "paths">,
): Question {
  const { id, time, callId, name, input } = asked;
  const value = askedValue(name, input);
  if (value !== undefined) return { ...value.question, id, time, callId, tool: name, input };
  const now = contentOf(change);
  // Where nobody can say what the file is now, nobody can say that it has changed.
  const isChanged = now !== undefined && (asked.content ?? now) !== now;
  const link = linkOf({ tool: name, input, place: asked.place }, settings);
  const reason = sentences(whyAsked(asked), link, isChanged ? CHANGED : undefined, change?.replaces);
  const call = { callId, tool: name, input, reason };
  return {
    id,
    type: "permission",
    time,
    ...call,
    ...defined({ diff: isChanged ? undefined : change?.diff }),
    choices: [{ choice: "once" }, { choice: "no" }, { choice: "stop" }],
  };
}

const CHANGED = "The file has changed since: a yes to this leaves it alone, and the model has to ask again.";

/** Why a call is asked about; nothing when the mode asks about every call of its kind. */
export function whyAsked({
  code,
  reason,
}: Pick<ApprovalRequestEntry, "code" | "reason">): string | undefined {
  return code === "no_rule" ? undefined : reason;
}

/** Where a path leads that is a link, or goes through one. */
export function linkOf(
  { tool, input, place }: Pick<ApprovalQuestion, "tool" | "input"> & { readonly place?: string | undefined },
  { cwd, paths }: Pick<Settings, "cwd" | "paths">,
): string | undefined {
  const { path } = input;
  if (!OF_FILES.has(tool) || typeof path !== "string" || place === undefined) return undefined;
  const written = resolve(cwd, path.replace(/^~(?=\/|$)/, paths.home));
  return written === place ? undefined : `${path} leads to ${place}.`;
}

const OF_FILES: ReadonlySet<string> = new Set(["read", "write", "edit", "glob", "grep"]);

/** Several sentences as one text. */
export function sentences(...parts: readonly (string | undefined)[]): string {
  return parts.filter((each) => each !== undefined).join(" ");
}
