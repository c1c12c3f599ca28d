import { basename } from "node:path";
import type { RewindPoint } from "../../../coding/session/coding-session.ts";
import { userPaths } from "../../../coding/settings/paths.ts";
import { sessionStore } from "../../../coding/setup/open-session.ts";
import { omitUndefined } from "../../../core/base/json.ts";
import { pluralize } from "../../../core/base/text.ts";
import { messageText } from "../../../core/message/message.ts";
import { FactsReader } from "../../../server/facts-reader.ts";
import type { SessionFacts } from "../../../server/session-facts.ts";
import { readSession, sessionTitle } from "../../../session/read-session.ts";
import { isSessionInUse } from "../../../session/session-lock.ts";
import type { SessionFile } from "../../../session/session-store.ts";
import { ageText, dayText, timeText } from "../../text/amounts.ts";
import { rollbackText } from "../../text/rollback-text.ts";
import { type Line, line, oneLine, type Span, span, textLines } from "../paint/line.ts";
import type { Marks, Role } from "../paint/theme.ts";
import type { PickerItem } from "../panels/picker.ts";
import { traceLine } from "../views/list-lines.ts";
import { type Control, ownCommand, recordsIn } from "./control.ts";

interface SessionCallbacks {
  readonly onOpened?: () => void;
  readonly onCancel?: () => void;
  /** True: sessions of all folders. */
  readonly all?: boolean;
}

const MAX_SESSIONS = 200;

/** The sessions of the folder, newest first. */
export function storedSessions({ ports }: Control, all = false): readonly SessionFile[] {
  const store = sessionStore(userPaths(ports.environment));
  return store.list(all ? undefined : ports.cwd).slice(0, MAX_SESSIONS);
}

/** Lets the person choose a session to resume; typing also searches what was said. */
export function openSessions(control: Control, callbacks: SessionCallbacks = {}): void {
  const { now, marks } = control.screen.context;
  const { all = false } = callbacks;
  const current = control.screen.session?.id;
  const sessions = storedSessions(control, all).filter(({ sessionId }) => sessionId !== current);
  if (sessions.length === 0) {
    control.say("There is no other session of this folder.", "muted");
    callbacks.onCancel?.();
    return;
  }
  const rows = sessions.map((session) => new SessionRow(session, now, marks));
  const here = basename(control.ports.cwd);
  const scope = all ? ["all folders", `tab ${here}`] : [here, "tab all folders"];
  control.pick({
    title: "Resume",
    right: scope.join(` ${marks.dot} `),
    items: rows,
    search: async (query) => {
      const words = ["sessions", "find", query, "--json", ...(all ? ["--all"] : [])];
      return searchResults(await ownCommand(words, control.ports), rows, now);
    },
    keys: ["enter open"],
    onKey: (key) => {
      if (key !== "tab") return undefined;
      control.screen.close();
      openSessions(control, { ...callbacks, all: !all });
      return 0;
    },
    onChoose: (id) => {
      control.run(
        control
          .switchTo(() => control.ports.openSession({ id }), true)
          .then(callbacks.onOpened, (error: unknown) => {
            if (control.screen.session === undefined) openSessions(control, callbacks);
            throw error;
          }),
      );
    },
    ...omitUndefined({ onCancel: callbacks.onCancel }),
  });
  readDetails(control, rows);
}

/** Shows the list at once and reads details from the files row by row, handling keys in between. */
function readDetails(control: Control, rows: readonly SessionRow[], index = 0): void {
  setImmediate(() => {
    const row = rows[index];
    if (row === undefined || !control.screen.hasPanel) return;
    row.read();
    if (index % ROWS_PER_FRAME === 0 || index === rows.length - 1) control.screen.drawSoon();
    readDetails(control, rows, index + 1);
  });
}

const ROWS_PER_FRAME = 8;
const MAX_BYTES = 20_000_000;

class SessionRow implements PickerItem<string> {
  readonly label: string;
  readonly value: string;
  readonly group: string;
  readonly end: string;
  readonly #session: SessionFile;
  readonly #marks: Marks;
  #facts: SessionFacts | undefined;
  #isLocked = false;
  #lastMessage: string | undefined;

  constructor(session: SessionFile, now: number, marks: Marks) {
    const { sessionId, path, changedAt } = session;
    this.label = oneLine(sessionTitle(path) ?? "(no text)").slice(0, 200);
    this.value = sessionId;
    this.group = dayText(changedAt, now);
    this.end = timeText(changedAt, now);
    this.#session = session;
    this.#marks = marks;
  }

  read(): void {
    const { path, bytes } = this.#session;
    if (bytes > MAX_BYTES) return;
    this.#facts = new FactsReader(path, undefined).read();
    this.#isLocked = isSessionInUse(path);
  }

  get find(): string {
    return this.label;
  }

  get mark(): Span {
    const { mark, role } = this.#state;
    return span(this.#marks[mark], { role });
  }

  get note(): Line {
    const { added = 0, removed = 0 } = this.#facts?.lines ?? {};
    const parts: readonly Line[] = [
      added === 0 ? [] : [span(`+${added}`, { role: "added" })],
      removed === 0 ? [] : [span(`${this.#marks.minus}${removed}`, { role: "removed" })],
      this.#state.word === "" ? [] : [span(this.#state.word, { role: "muted" })],
    ];
    return parts
      .filter((part) => part.length > 0)
      .flatMap((part, index) => [span(index === 0 ? "" : " "), ...part]);
  }

  readonly preview = (): readonly Line[] => {
    if (this.#facts === undefined) return [];
    this.#lastMessage ??= lastUserMessage(this.#session.path);
    const quote = this.#lastMessage === "" ? "" : `\u201C${this.#lastMessage}\u201D  `;
    return [
      [
        span(`  ${quote}`),
        span(`${pluralize(this.#facts.messageCount, "message")}   `, { role: "muted" }),
        ...traceLine(this.#facts.trace, this.#marks),
      ],
    ];
  };

  get #state(): State {
    const { run = "ended", end } = this.#facts ?? {};
    if (this.#isLocked) return { mark: "tool", role: "accent", word: "in another window" };
    if (run === "waiting") return { mark: "ask", role: "warning", word: "waiting for you" };
    if (run === "open") return { mark: "cut", role: "plan", word: "interrupted" };
    return (end && ENDED[end.reason]) ?? { mark: "ok", role: "good", word: "" };
  }
}

interface State {
  readonly mark: keyof Marks;
  readonly role: Role;
  readonly word: string;
}

const LIMIT: State = { mark: "alert", role: "warning", word: "limit" };
const FAILED: State = { mark: "bad", role: "bad", word: "failed" };

const ENDED: { readonly [reason: string]: State | undefined } = {
  aborted: { mark: "stopped", role: "muted", word: "stopped" },
  budget: LIMIT,
  max_iterations: LIMIT,
  denied: { mark: "refused", role: "muted", word: "refused" },
  error: FAILED,
  output_limit: FAILED,
  refusal: FAILED,
  loop_detected: FAILED,
};

function lastUserMessage(path: string): string {
  try {
    const entry = readSession(path).entries.findLast(
      ({ type, scope }) => type === "user_message" && scope === undefined,
    );
    return entry?.type === "user_message" ? oneLine(messageText(entry.message)).slice(0, 60) : "";
  } catch {
    // Opening it reports the problem.
    return "";
  }
}

function searchResults(
  json: string,
  rows: readonly SessionRow[],
  now: number,
): readonly PickerItem<string>[] {
  return recordsIn(json).flatMap((row) => {
    const id = row["session_id"];
    if (typeof id !== "string") return [];
    const excerpt = typeof row["excerpt"] === "string" ? row["excerpt"] : "";
    const known = rows.find(({ value }) => value === id);
    const changed = typeof row["changed_at"] === "string" ? Date.parse(row["changed_at"]) : now;
    return [
      {
        label: excerpt === "" ? (known?.label ?? id) : excerpt,
        end: known?.end ?? timeText(changed, now),
        value: id,
        ...omitUndefined({ mark: known?.mark }),
        preview: () =>
          known === undefined ? [] : [line(`  ${known.label}`, { role: "muted" }), ...known.preview()],
      },
    ];
  });
}

export function openHistorySearch(control: Control): void {
  const { input } = control.screen;
  const texts = input.earlierTexts();
  if (texts.length === 0) {
    control.say("Nothing was typed before in this folder.", "muted");
    return;
  }
  control.pick({
    title: "Typed before",
    items: texts.toReversed().map((text) => ({
      label: text.slice(0, 500),
      value: text,
      preview: () => textLines(text).slice(0, 4),
    })),
    onChoose: (text) => {
      input.replace(text);
      control.screen.draw();
    },
  });
}

export function openRewind(control: Control): void {
  const { session } = control.screen;
  if (session === undefined) return;
  control.screen.clearHint();
  const points = session.rewindPoints().toReversed();
  if (points.length === 0) {
    control.say("There is nothing to go back to.", "muted");
    return;
  }
  const { now, marks } = control.screen.context;
  control.pick<RewindPoint>({
    title: "Rewind to before",
    isSearched: false,
    items: points.map((point) => ({
      label: point.text.slice(0, 300),
      note: point.files.length === 0 ? "" : `${pluralize(point.files.length, "file")} since`,
      end: ageText(now - point.time),
      value: point,
    })),
    answers: ({ files }) =>
      (files.length === 0 ? REWIND_CHOICES.slice(1, 2) : REWIND_CHOICES).map(({ label }) => label),
    keys: [`${marks.up}${marks.down} pick a message, 1-3 what to rewind`],
    onChoose: (point, answer) => {
      const way = REWIND_CHOICES[point.files.length === 0 ? 1 : answer];
      if (way !== undefined) control.run(rewind(control, point, way));
    },
  });
}

const REWIND_CHOICES = [
  { label: "Files and conversation", conversation: true, files: true },
  { label: "Conversation only", conversation: true, files: false },
  { label: "Files only", conversation: false, files: true },
] as const;

async function rewind(
  control: Control,
  point: RewindPoint,
  what: { readonly conversation: boolean; readonly files: boolean },
): Promise<void> {
  const { session, input } = control.screen;
  if (session === undefined) return;
  const { conversation, files } = what;
  const report = await session.rewind(point.entryId, { conversation, files });
  if (report.files !== undefined) printRollback(control, report.files);
  if (report.status === "refused") control.say("Nothing was changed.", "bad");
  else if (conversation && input.isEmpty) input.replace(report.text);
  control.screen.draw();
}

/** Restores files to before the last run that changed any; with `force`, also files others changed since. */
export async function undo(control: Control, args: string): Promise<void> {
  const report = await control.screen.session?.undo(args === "force" ? { force: true } : {});
  if (report !== undefined) printRollback(control, report);
}

export async function redo(control: Control, args: string): Promise<void> {
  const report = await control.screen.session?.redo(args === "force" ? { force: true } : {});
  if (report !== undefined) printRollback(control, report);
}

function printRollback(control: Control, report: Parameters<typeof rollbackText>[0]): void {
  control.print(textLines(rollbackText(report, { isDry: false, on: "screen" }).trimEnd()));
}
