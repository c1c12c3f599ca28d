import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { ApprovalRequestEntry, JournalEntry } from "../../core/agent/entries.ts";
import type { ApprovalAnswer, Approvals } from "../../core/agent/ports.ts";
import { SessionState } from "../../core/agent/state.ts";
import { check, FUNCTION_SCHEMA } from "../../core/base/check-options.ts";
import { compileSchema } from "../../core/base/compile-schema.ts";
import { invalidArgument, type Json, NanoAgentError } from "../../core/base/errors.ts";
import { createIds } from "../../core/base/ids.ts";
import { isRecord, omitUndefined } from "../../core/base/json.ts";
import type { JsonSchema } from "../../core/base/schema.ts";
import type { ToolInput, ToolUseBlock } from "../../core/message/message.ts";
import type { Elicit, Elicitation } from "../../extensions/mcp/connection.ts";
import type { ApprovalPrompt, ApprovalQuestion, ApprovalReply } from "../../permission/approver.ts";
import { isFileTool } from "../../permission/rule.ts";
import type { SessionContent } from "../../session/read-session.ts";
import { ASK_TOOL, type AskedQuestion, askForm } from "../../tools/ask-tool.ts";
import type { ApprovedChanges, FileContent, FilePort, FileState } from "../../tools/files/file-state.ts";
import { resolvePath } from "../../tools/resolve-path.ts";
import type {
  NewQuestion,
  OfferedChoice,
  Question,
  QuestionListener,
  QuestionReply,
  QuestionScope,
} from "../../view/question.ts";
import { PLAN_TOOL } from "../../view/question-kind.ts";
import { fitValue } from "../../view/value-form.ts";
import type { UserPaths } from "../settings/paths.ts";
import type { Settings } from "../settings/settings.ts";
import type { OpenSession } from "../setup/open-session.ts";
import type { ChangePreview, PreviewedCall } from "./change-preview.ts";
import type { PlanDecision } from "./plan-tool.ts";
import type { SessionNotices } from "./session-notices.ts";

interface ValueQuestion {
  readonly question: Pick<Question, "type" | "reason" | "choices" | "schema" | "options">;
  /** The input the call runs with after a reply; `undefined`: it is refused, and the run ends. */
  readonly inputAfter: (reply: QuestionReply) => ToolInput | undefined;
}

const CHOICES: readonly OfferedChoice[] = [{ choice: "no" }, { choice: "stop" }];

/** The value that a call asks a person for; `undefined` if the call can only be allowed or refused. */
function valueQuestion(tool: string, input: ToolInput): ValueQuestion | undefined {
  if (tool === ASK_TOOL && Array.isArray(input["questions"]))
    return answersQuestion(input["questions"] as readonly AskedQuestion[]);
  if (tool === PLAN_TOOL && typeof input["plan"] === "string") return planQuestion(input["plan"]);
  return undefined;
}

function answersQuestion(questions: readonly AskedQuestion[]): ValueQuestion {
  return {
    question: { type: "elicitation", reason: "", choices: CHOICES, schema: askForm(questions) },
    inputAfter: (reply) => {
      if ("value" in reply) return { questions, answers: isRecord(reply.value) ? reply.value : {} };
      return reply.choice === "stop" ? undefined : { questions, answers: {} };
    },
  };
}

const PLAN_MODES: NonNullable<Question["options"]> = [
  { value: "auto", label: "Start in auto" },
  { value: "default", label: "Start in ask" },
];

function planQuestion(plan: string): ValueQuestion {
  const withDecision = (decision: PlanDecision): ToolInput => ({ plan, ...decision });
  return {
    question: { type: "choice", reason: "", choices: CHOICES, options: PLAN_MODES },
    inputAfter: (reply) => {
      if ("value" in reply) return withDecision({ decision: reply.value === "auto" ? "auto" : "default" });
      return withDecision(reply.choice === "stop" ? { decision: "keep" } : { changes: reply.reason ?? "" });
    },
  };
}

interface QuestionHost {
  readonly settings: Settings;
  readonly files: FilePort | undefined;
  readonly read: FileState;
  /** Stores a question so that another process finds it; undefined until the session is open. */
  readonly session: () => OpenSession | undefined;
  readonly notices: SessionNotices;
  readonly onChange: () => void;
  readonly onAnswer: () => void;
}

interface OpenQuestion {
  readonly question: Question;
  readonly reply: (reply: QuestionReply) => void;
  /** Fails the caller that waits for the answer; absent for a restored question, which has no caller. */
  readonly fail?: (reason: unknown) => void;
}

type CallAnswer = Extract<ApprovalAnswer, object>;

/** The file content that a person saw when they agreed to change it. */
interface ShownFile {
  readonly content: string;
  /** Another process had read the file and asked the question. */
  readonly isCarried: boolean;
}

/** A session's open questions, also of earlier processes. A listener that fails refuses its question. */
export class PendingQuestions implements ApprovalPrompt, ApprovedChanges {
  readonly #host: QuestionHost;
  readonly #ids = createIds();
  /** Each listener, with whether it can also answer with a value. */
  readonly #listeners = new Map<QuestionListener, boolean>();
  /** The files that people saw and agreed to change, by call. */
  readonly #agreedFiles = new Map<string, ShownFile>();
  /** Answers to restored questions, by call, until a run takes them. */
  readonly #answers = new Map<string, CallAnswer>();
  #open: readonly OpenQuestion[] = [];
  #questions: readonly Question[] = [];

  constructor(host: QuestionHost) {
    this.#host = host;
  }

  get isAttended(): boolean {
    return this.#listeners.size > 0;
  }

  get takesValues(): boolean {
    return [...this.#listeners.values()].includes(true);
  }

  get questions(): readonly Question[] {
    return this.#questions;
  }

  onQuestion(listener: QuestionListener, { values = true }: QuestionScope = {}): () => void {
    check(listener, FUNCTION_SCHEMA, "The listener");
    const own: QuestionListener = (question, signal) => listener(question, signal);
    this.#listeners.set(own, values);
    return () => {
      this.#listeners.delete(own);
    };
  }

  answer(id: string, reply: QuestionReply): void {
    const open = this.#open.find(({ question }) => question.id === id);
    if (open === undefined)
      throw invalidArgument(`No question ${JSON.stringify(id)} is open: it was answered or withdrawn.`);
    assertOffered(open.question, reply);
    const given = "value" in reply ? { value: fitReply(open.question, reply.value) } : reply;
    this.#remove(id);
    open.reply(given);
  }

  /** Restores the session's open questions and removes those whose calls have ended. */
  async restore(): Promise<void> {
    const session = this.#host.session();
    const isAsked = session?.newestOf("approval_request") !== undefined;
    const requests = isAsked ? openApprovals(session.journal.entries()) : [];
    for (const [call, { question }] of this.#answers)
      if (!requests.some(({ callId, id }) => callId === call && id === question)) this.#answers.delete(call);
    const open = requests.filter(({ callId }) => !this.#answers.has(callId));
    const ids = new Set(open.map(({ id }) => id));
    const remaining = this.#open.filter((each) => !isRestored(each) || ids.has(each.question.id));
    if (remaining.length < this.#open.length) this.#set(remaining);
    const isNew = ({ id }: ApprovalRequestEntry): boolean =>
      !this.#open.some(({ question }) => question.id === id);
    const added = open.filter(isNew);
    const changes = await Promise.all(added.map(({ name, input }) => this.#changeOf(name, input)));
    for (const [at, entry] of added.entries()) {
      if (!isNew(entry)) continue;
      const question = restoredQuestion(entry, changes[at], this.#host.settings);
      this.#add({ question, reply: (reply) => this.#answerRestored(entry, changes[at], reply) });
    }
  }

  #answerRestored(
    entry: ApprovalRequestEntry,
    change: ChangePreview | undefined,
    reply: QuestionReply,
  ): void {
    const { id: question, callId, content: before } = entry;
    const content = before ?? contentOf(change);
    const answer = answerOf(entry, reply);
    if (content !== undefined && answer.approved)
      this.#agreedFiles.set(callId, { content, isCarried: before !== undefined });
    this.#answers.set(callId, { ...answer, question });
    this.#host.onAnswer();
  }

  /** Takes the answers to restored questions once all are there or one is a no; undefined before. */
  takeAnswers(): Approvals | undefined {
    const answers = [...this.#answers.values()];
    const isDecided = !this.#open.some(isRestored) || answers.some(({ approved }) => !approved);
    if (answers.length === 0 || !isDecided) return undefined;
    const approvals = Object.fromEntries(this.#answers);
    this.#answers.clear();
    return approvals;
  }

  /** A call has ended: its restored question is obsolete. */
  endCall(callId: string): void {
    this.#answers.delete(callId);
    const isOver = (open: OpenQuestion): boolean => isRestored(open) && open.question.callId === callId;
    if (this.#open.some(isOver)) this.#set(this.#open.filter((open) => !isOver(open)));
  }

  /** Withdraws all questions; their callers fail with `reason`. */
  clear(reason: string): void {
    const open = this.#open;
    this.#set([]);
    for (const { fail } of open) fail?.(new NanoAgentError("aborted", reason));
  }

  async ask(approval: ApprovalQuestion): Promise<ApprovalReply> {
    const { tool, input, callId, place, signal } = approval;
    if (!this.isAttended) throw invalidArgument("there is nobody to ask");
    const value = valueQuestion(tool, input);
    const how = { signal, place, known: this.#filesReadBefore(approval) };
    const change = value === undefined ? await this.#changeOf(tool, input, how) : undefined;
    if (change?.error !== undefined) return { choice: "fails", error: change.error };
    const content = contentOf(change);
    const call = { ...approval, id: await this.#record(approval, content), time: Date.now() };
    const question = callQuestion(call, change, choicesOf(approval), this.#host.settings);
    const reply = await this.#wait(question, signal);
    if (value !== undefined) {
      const answered = value.inputAfter(reply);
      return answered === undefined ? { choice: "stop" } : { choice: "answered", input: answered };
    }
    if (!("choice" in reply)) return { choice: "no" };
    const { choice, reason } = reply;
    if (choice === "no" || choice === "stop") return { choice, ...omitUndefined({ reason }) };
    if (content !== undefined) this.#agreedFiles.set(callId, { content, isCarried: false });
    return { choice };
  }

  /**
   * The files the conversation has read. Undefined for a nested call, and if an earlier call of the answer
   * may still read or change the file: all calls are asked about before one runs.
   */
  #filesReadBefore({ callId, parentCallId, place }: ApprovalQuestion): PreviewedCall["known"] {
    const { settings, read, session } = this.#host;
    const transcriptId = session()?.journal.sessionId;
    if (transcriptId === undefined || parentCallId !== undefined) return undefined;
    const newest = session()?.newestOf("assistant_message");
    const calls = newest?.message.content.filter((block) => block.type === "tool_use") ?? [];
    const at = calls.findIndex(({ id }) => id === callId);
    const earlier = calls.slice(0, Math.max(0, at));
    const base = { cwd: settings.cwd, home: settings.paths.home };
    const isElsewhere = ({ name, input: { path } }: ToolUseBlock): boolean =>
      isFileTool(name) && typeof path === "string" && resolvePath(path, base) !== place;
    return earlier.every(isElsewhere) ? { state: read, transcriptId } : undefined;
  }

  isApprovedContent(callId: string, content: FileContent): boolean {
    const shown = this.#agreedFiles.get(callId);
    this.#agreedFiles.delete(callId);
    return shown === undefined || shown.content === digestOf(content);
  }

  wasAskedEarlier(callId: string): boolean {
    return this.#agreedFiles.get(callId)?.isCarried === true;
  }

  async #changeOf(
    tool: string,
    input: ToolInput,
    how: Pick<PreviewedCall, "known" | "place"> & { readonly signal?: AbortSignal } = {},
  ): Promise<ChangePreview | undefined> {
    const { settings, files } = this.#host;
    const { previewChange } = await import("./change-preview.ts");
    return previewChange({ signal: new AbortController().signal, ...how, tool, input, settings, files });
  }

  /** Asks for a value or a choice. `undefined`: declined, or no listener. */
  async askValue(question: NewQuestion, signal: AbortSignal): Promise<Json | undefined> {
    if (!this.takesValues) return undefined;
    const reply = await this.#wait(
      { ...question, id: this.#ids("question"), time: Date.now(), choices: [{ choice: "no" }] },
      signal,
    );
    return "value" in reply ? reply.value : undefined;
  }

  tell(message: string): void {
    this.#host.notices.add({ level: "info", code: "permission", message });
  }

  /**
   * Records a question before asking it, so that another process can answer it. Resolves to its id. A nested
   * call cannot wait that long and is not recorded.
   */
  async #record(approval: ApprovalQuestion, shownContent: string | undefined): Promise<string> {
    const { callId, parentCallId, tool: name, input, reason, code, part, rule, cwd, place } = approval;
    const { read } = this.#host;
    const journal = this.#host.session()?.journal;
    const isNested = parentCallId !== undefined || this.#host.settings.config.values.pattern !== undefined;
    if (journal === undefined || isNested) return this.#ids("question");
    const isRead =
      shownContent === NO_FILE || read.recall(journal.sessionId, place ?? "")?.sha256 === shownContent;
    const content = isRead ? shownContent : undefined;
    const more = omitUndefined({ code, part, suggestion: rule, cwd: cwd || undefined, place, content });
    const question = { callId, name, input, reason, ...more };
    return (await journal.append({ type: "approval_request", ...question })).id;
  }

  async #wait(question: Question, signal: AbortSignal): Promise<QuestionReply> {
    signal.throwIfAborted();
    const pending = Promise.withResolvers<QuestionReply>();
    const closing = new AbortController();
    const onAbort = (): void => pending.reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    this.#add({ question, reply: pending.resolve, fail: pending.reject });
    try {
      // An error that a listener throws synchronously is a rejection too.
      const notify = async (listener: QuestionListener): Promise<void> => listener(question, closing.signal);
      for (const listener of this.#listeners.keys()) notify(listener).catch(pending.reject);
      return await pending.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#remove(question.id);
      closing.abort(signal.reason);
    }
  }

  #add(open: OpenQuestion): void {
    this.#set([...this.#open, open]);
  }

  #remove(id: string): void {
    this.#set(this.#open.filter(({ question }) => question.id !== id));
  }

  #set(open: readonly OpenQuestion[]): void {
    this.#open = open;
    this.#questions = open.map(({ question }) => question);
    this.#host.onChange();
  }
}

function isRestored({ fail }: OpenQuestion): boolean {
  return fail === undefined;
}

function choicesOf({ rule, offersEdits }: ApprovalQuestion): readonly OfferedChoice[] {
  return [
    { choice: "once" },
    ...(offersEdits ? [{ choice: "edits" as const }] : []),
    ...(rule === undefined ? [] : [{ choice: "always" as const, rule }]),
    { choice: "no" },
    { choice: "stop" },
  ];
}

function assertOffered({ type, choices, options }: Question, reply: QuestionReply): void {
  if (!isRecord(reply)) throw invalidArgument("An answer is { choice } or { value }.");
  if ("value" in reply) {
    if (type === "permission")
      throw invalidArgument(
        `A question about a call takes a choice: ${choices.map(({ choice }) => choice).join(", ")}.`,
      );
    if (options !== undefined && !options.some(({ value }) => value === reply.value))
      throw invalidArgument(
        `${JSON.stringify(reply.value)} is not one of ${options.map(({ value }) => value).join(", ")}.`,
      );
    return;
  }
  const { choice, rule } = reply;
  if (type !== "permission" && (choice === "no" || choice === "stop")) return;
  const offered = choices.find((each) => each.choice === choice);
  if (offered === undefined)
    throw invalidArgument(
      `${JSON.stringify(choice)} is not offered. Choose one of ${choices.map((each) => each.choice).join(", ")}.`,
    );
  if (rule !== undefined && rule !== offered.rule)
    throw invalidArgument(`The question offers ${offered.rule ?? "no rule"} for ${choice}, not ${rule}.`);
}

function fitReply({ schema }: Question, value: Json): Json {
  const fitted = schema === undefined ? { value } : fitValue(schema, value);
  if ("fault" in fitted) throw invalidArgument(`The value does not fit what was asked for: ${fitted.fault}.`);
  return fitted.value;
}

/** Asks the person for an MCP server. Declines without a listener, and for URLs that are not http(s). */
export function createElicit(
  questions: Pick<PendingQuestions, "takesValues" | "askValue">,
  onAsk: (message: string) => Promise<void>,
): Elicit {
  return async (elicitation, signal) => {
    const asked = questionOf(elicitation);
    if (asked === undefined) return { action: "decline" };
    if (questions.takesValues) await onAsk(asked.reason);
    const value = await questions.askValue(asked, signal);
    if (value === undefined) return { action: "decline" };
    return isRecord(value) ? { action: "accept", content: value } : { action: "accept" };
  };
}

function questionOf({ server, message, schema, url }: Elicitation): NewQuestion | undefined {
  if (url === undefined)
    return {
      type: "elicitation",
      reason: `${server} asks: ${message}`,
      // An unusable schema fails here, so that the server is told.
      schema: compileSchema((schema ?? { type: "object" }) as JsonSchema).jsonSchema,
    };
  const page = URL.parse(url);
  if (page === null || !/^https?:$/.test(page.protocol)) return undefined;
  // Written as a browser reads it, so that foreign scripts and a name before an @ cannot mislead.
  const reason = `${server} asks you to open a page of ${page.host}, ${page.href}: ${message}`;
  return { type: "choice", reason, options: [{ value: "opened", label: "I have opened it" }] };
}

function answerOf({ name, input }: ApprovalRequestEntry, reply: QuestionReply): CallAnswer {
  const answered = valueQuestion(name, input)?.inputAfter(reply);
  if (answered !== undefined) return { approved: true, input: answered };
  if (!("choice" in reply)) return { approved: false };
  const { choice, reason } = reply;
  return {
    approved: choice === "once",
    ...(reason !== undefined && { reason: `the user said: ${reason}` }),
    ...(choice === "stop" && { stop: true }),
  };
}

export async function openQuestions(
  { entries, header }: Pick<SessionContent, "entries" | "header">,
  paths: UserPaths,
): Promise<readonly Question[]> {
  const settings = { cwd: header?.cwd ?? "", paths };
  const { previewChange } = await import("./change-preview.ts");
  const signal = new AbortController().signal;
  return Promise.all(
    openApprovals(entries).map(async (request) => {
      const { name: tool, input } = request;
      const isKnown = settings.cwd !== "";
      const change = isKnown ? await previewChange({ tool, input, settings, signal }) : undefined;
      return restoredQuestion(request, change, settings);
    }),
  );
}

function openApprovals(entries: Iterable<JournalEntry>): readonly ApprovalRequestEntry[] {
  const state = new SessionState();
  for (const entry of entries) state.apply(entry);
  const waiting = new Set(state.transcript.pending.map(({ id }) => id));
  return [...state.approvals.values()].filter(({ callId }) => waiting.has(callId));
}

/** The question of an earlier process: the rules it offered ended with that process. */
function restoredQuestion(
  request: ApprovalRequestEntry,
  change: ChangePreview | undefined,
  settings: Pick<Settings, "cwd" | "paths">,
): Question {
  const choices: readonly OfferedChoice[] = [{ choice: "once" }, ...CHOICES];
  return callQuestion({ ...request, tool: request.name }, change, choices, settings);
}

type AskedCall = Pick<Question, "id" | "time" | "reason" | "agent" | "runs" | "outside"> &
  Pick<ApprovalQuestion, "callId" | "tool" | "input" | "code" | "place"> & {
    /** Digest of the file that an earlier process showed. */
    readonly content?: string;
  };

/** Its reason is empty if the mode asks about every call of its kind. */
function callQuestion(
  asked: AskedCall,
  change: ChangePreview | undefined,
  choices: readonly OfferedChoice[],
  settings: Pick<Settings, "cwd" | "paths">,
): Question {
  const { id, time, callId, tool, input, agent, runs, outside, code, content, reason } = asked;
  const call = { id, time, callId, tool, input, ...omitUndefined({ agent }) };
  const value = valueQuestion(tool, input);
  if (value !== undefined) return { ...value.question, ...call };
  const now = contentOf(change);
  // A file that cannot be read counts as unchanged.
  const isChanged = now !== undefined && (content ?? now) !== now;
  const why = code === "no_rule" ? undefined : reason;
  const sentences = [why, linkOf(asked, settings), isChanged ? FILE_CHANGED : undefined, change?.replaces];
  return {
    ...call,
    type: "permission",
    reason: sentences.filter((each) => each !== undefined).join(" "),
    ...omitUndefined({ runs, outside, diff: isChanged ? undefined : change?.diff }),
    choices,
  };
}

const FILE_CHANGED =
  "The file has changed since: a yes to this leaves it alone, and the model has to ask again.";

/** The target of a path that is a link or goes through one. */
function linkOf(
  { tool, input, place }: Pick<ApprovalQuestion, "tool" | "input" | "place">,
  { cwd, paths }: Pick<Settings, "cwd" | "paths">,
): string | undefined {
  const { path } = input;
  if (!isFileTool(tool) || typeof path !== "string" || place === undefined) return undefined;
  const written = resolve(cwd, path.replace(/^~(?=\/|$)/, paths.home));
  return written === place ? undefined : `${path} leads to ${place}.`;
}

/** The digest of the file a change was based on; `undefined` if it cannot be read. */
function contentOf(change: ChangePreview | undefined): string | undefined {
  return change?.file && digestOf(change.file.content);
}

const NO_FILE = "none";

function digestOf(content: FileContent): string {
  if (content === undefined || content === "too large") return content ?? NO_FILE;
  return createHash("sha256").update(content).digest("hex");
}
