import type { CodingSession, CompactionResult } from "../../../coding/session/coding-session.ts";
import { createCodingSession } from "../../../coding/session/prepare-coding-session.ts";
import { SessionState } from "../../../core/agent/state.ts";
import { misuse } from "../../../core/base/errors.ts";
import { counted } from "../../../core/base/text.ts";
import { undoNewestCompaction } from "../../../memory/context/compactor.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { phraseText } from "../../../view/words.ts";
import type { SessionCall } from "../command-call.ts";
import { answer, say, settingsHere } from "../command-context.ts";

/**
 * Compacts a session with the model it works with, shows what that would do, or takes the newest compaction
 * back. Returns 1 when the session stays as it was.
 */
export async function compactSession(call: SessionCall, session: SessionFile): Promise<number> {
  const [isPreview, isUndo] = [call.has("--preview"), call.has("--undo")];
  if (isPreview && isUndo)
    throw misuse("sessions compact shows what would happen or takes it back. Leave --preview or --undo out.");
  if (isUndo) return undo(call, session);
  const { context, cwd } = call;
  const { environment } = context;
  const { config } = await settingsHere(context);
  const coding = await createCodingSession({
    environment,
    cwd,
    resume: { id: session.sessionId },
    // Who asks for a compaction wants one, also where it never happens by itself.
    ...(config.values.compaction === false ? { settings: { compaction: {} } } : {}),
    onNotice: (notice) => (notice.code === "model_chosen" ? undefined : say(context, noticeText(notice))),
  });
  try {
    return isPreview ? await preview(coding, call) : await compact(coding, call);
  } finally {
    await coding.close();
  }
}

async function compact(coding: CodingSession, call: SessionCall): Promise<number> {
  const { context } = call;
  coding.onEvent((event) => {
    if (event.type === "warning") say(context, event.message);
  });
  const result = await coding.compact();
  const { method = "none", tokensBefore = null, tokensAfter = null } = result ?? {};
  const undoing = `Take it back with: nano-agent sessions compact ${coding.id} --undo`;
  answer(context, call, {
    json: () => ({ session_id: coding.id, method, tokens_before: tokensBefore, tokens_after: tokensAfter }),
    text: () => (result === undefined ? "" : `${coding.id}: ${compacted(result)} ${undoing}\n`),
  });
  return result === undefined ? EXIT.failed : EXIT.done;
}

async function preview(coding: CodingSession, call: SessionCall): Promise<number> {
  const { replaced, kept, pinned, isNeeded, ...figures } = await coding.previewCompaction();
  const { method, tokensBefore, tokensAfter, window, limit } = figures;
  const room =
    window === undefined
      ? "the window of the model is unknown"
      : `compacted above ${limit ?? window}, window ${window}`;
  const messages = counted(replaced.length + kept.length, "message");
  const isSmaller = method === "none" || tokensAfter < tokensBefore;
  const todo = pinned.todo ? "the todo list" : "no todo list";
  const rows: readonly (readonly [string, string])[] = [
    ["session", coding.id],
    ["size", `${messages}, about ${tokensBefore} tokens (${room})`],
    ["method", method === "none" ? "nothing could go" : method],
    ["goes", counted(replaced.length, "older message")],
    ["stays", counted(kept.length, "newest message")],
    [
      "pinned",
      `${counted(pinned.userMessages, "message")} of the user, ${counted(pinned.files, "file")}, ${todo}`,
    ],
    ["after", `about ${tokensAfter} tokens${isSmaller ? "" : ": no less, so it would stay as it is"}`],
  ];
  answer(call.context, call, {
    json: () => ({
      session_id: coding.id,
      needed: isNeeded,
      method,
      tokens_before: tokensBefore,
      tokens_after: tokensAfter,
      limit: limit ?? null,
      window: window ?? null,
      replaced: replaced.length,
      kept: kept.length,
      pinned: { user_messages: pinned.userMessages, files: pinned.files, todo: pinned.todo },
    }),
    text: () => rows.map(([name, value]) => `${name.padEnd(8)}  ${value}\n`).join(""),
  });
  return EXIT.done;
}

async function undo(call: SessionCall, session: SessionFile): Promise<number> {
  const { sessionId } = session;
  const journal = await call.store.resume(session);
  try {
    const state = new SessionState();
    for (const entry of journal.entries()) state.apply(entry);
    await undoNewestCompaction({ journal, state, scope: undefined, emit: () => undefined });
    const { length: messages } = state.transcript.messages;
    const left = `the conversation has ${counted(messages, "message")}`;
    answer(call.context, call, {
      json: () => ({ session_id: sessionId, messages }),
      text: () => `${sessionId}: the newest compaction is taken back; ${left}.\n`,
    });
    return EXIT.done;
  } finally {
    await journal.close();
  }
}

function compacted({
  method,
  tokensBefore: before,
  tokensAfter: after,
}: NonNullable<CompactionResult>): string {
  return phraseText({ code: "compacted", before, after, method }, String);
}
