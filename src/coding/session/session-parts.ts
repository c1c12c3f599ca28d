import type { JournalEntry } from "../../core/agent/entries.ts";
import type { Settings } from "../settings/settings.ts";
import type { Composition } from "../setup/compose.ts";
import type { OpenSession } from "../setup/open-session.ts";
import type { Telemetry } from "../setup/open-telemetry.ts";
import type { CodingSession, CodingSessionOptions } from "./coding-session.ts";
import type { NoticeBoard } from "./notice-board.ts";
import type { PendingQuestions } from "./pending-questions.ts";
import type { SessionAgent } from "./session-agent.ts";

export interface SessionParts {
  readonly options: CodingSessionOptions;
  readonly settings: Settings;
  readonly composed: Composition;
  readonly current: SessionAgent;
  readonly session: OpenSession;
  readonly questions: PendingQuestions;
  readonly notices: NoticeBoard;
  readonly telemetry: Telemetry | undefined;
  readonly reopen: (options: CopyOptions) => Promise<CodingSession>;
}

export interface CopyOptions extends CodingSessionOptions {
  readonly entries?: readonly JournalEntry[];
}
