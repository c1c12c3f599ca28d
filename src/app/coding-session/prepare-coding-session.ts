import { defined } from "../../core/base/defined.ts";
import { NanoAgentError } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import type { Redaction } from "../../core/base/redaction.ts";
import { hasRepairs } from "../../session/repair-report.ts";
import { isAroundHome } from "../checkpoints.ts";
import { type ComposeOptions, composeAgent } from "../compose.ts";
import { readEnvironment } from "../config/env.ts";
import { currentFolder, existingFolder } from "../config/paths.ts";
import { findSession, type OpenSession, type SessionChoice } from "../open-session.ts";
import type { Telemetry } from "../open-telemetry.ts";
import type { SessionHooks } from "../plugins/session-hooks.ts";
import { redactionFor } from "../secrets.ts";
import { loadSettings, type Settings } from "../settings.ts";
import type { CodingSession } from "./coding-session.ts";
import { elicitAt } from "./elicit.ts";
import { LiveSession } from "./live-session.ts";
import { about } from "./notice.ts";
import { NoticeBoard } from "./notice-board.ts";
import { recordQuestion } from "./open-questions.ts";
import { QuestionDesk } from "./question-desk.ts";
import type { CopyOptions } from "./session-parts.ts";

/** A coding session whose settings are read and which is not open yet. */
export interface PreparedSession {
  readonly settings: Settings;
  readonly redact: Redaction | undefined;
  /** Id of the session, as far as it is known by now. */
  readonly sessionId: string;
  /**
   * Opens it. Throws for a session, model, tool name or folder that does not exist, missing credentials, and
   * a sandbox that does not work.
   */
  readonly open: () => Promise<CodingSession>;
  /** Ends at once whatever was started by now, for the moment before the process ends. */
  readonly killNow: () => void;
}

/**
 * Reads the settings of a coding session. Throws `invalid_argument` for a folder that is none,
 * `invalid_config` for files that cannot be used.
 */
export async function prepareCodingSession(options: CopyOptions): Promise<PreparedSession> {
  const { environment = readEnvironment(), model, permissionMode } = options;
  const settings = await loadSettings({
    environment,
    cwd: existingFolder(options.cwd ?? currentFolder(), "cwd"),
    mcp: options.mcp,
    flags: {
      ...options.settings,
      ...(typeof model === "string" ? { model } : {}),
      ...(permissionMode === undefined ? {} : { permissionMode }),
    },
  });
  const redact = redactionFor(environment, settings.config.values);
  const notices = new NoticeBoard(redact, options.onNotice);
  for (const message of settings.config.notices) notices.add({ level: "warning", code: "setting", message });
  if (isAroundHome(settings)) notices.add({ level: "warning", code: "wide_folder", folder: settings.cwd });
  return new Preparation(options, { settings, redact, notices });
}

interface PreparationParts {
  readonly settings: Settings;
  readonly redact: Redaction | undefined;
  readonly notices: NoticeBoard;
}

class Preparation implements PreparedSession {
  readonly settings: Settings;
  readonly redact: Redaction | undefined;
  readonly #options: CopyOptions;
  readonly #notices: NoticeBoard;
  #sessionId: string;
  #opened: { session?: OpenSession; live?: LiveSession; hooks?: SessionHooks } = {};

  constructor(options: CopyOptions, { settings, redact, notices }: PreparationParts) {
    this.settings = settings;
    this.redact = redact;
    this.#options = options;
    this.#notices = notices;
    this.#sessionId = options.sessionId ?? newUuid();
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  readonly open = async (): Promise<CodingSession> => {
    const options = this.#options;
    const { settings } = this;
    const { paths, cwd } = settings;
    const found = findSession(sessionChoice(options), { paths, cwd, newId: this.#sessionId });
    this.#sessionId = found.sessionId;
    const opened = this.#opened;
    const desk = new QuestionDesk({
      onChange: () => opened.live?.changed(),
      onTell: (message) => this.#notices.add({ level: "info", code: "permission", message }),
      record: (question) => recordQuestion(opened.session?.journal, settings, question),
      diffOf: async (tool, input) => {
        const { questionDiff } = await import("./question-diff.ts");
        return questionDiff({ tool, input, settings, files: options.ports?.files });
      },
      rulesFile: `${paths.configFolder}/config.json`,
    });
    try {
      const composed = await composeAgent({
        ...passedOn(options),
        settings,
        elicit:
          options.elicit ??
          elicitAt(desk, async (asked) => opened.hooks?.notify("elicitation_dialog", asked)),
        openJournal: async () => {
          opened.session = await found.open();
          return opened.session.journal;
        },
        approval: desk,
        isAttended: () => desk.isAttended,
        onNotice: (notice) => this.#notices.add(notice),
      });
      const { session } = opened;
      if (composed.hooks !== undefined) opened.hooks = composed.hooks;
      if (session === undefined) throw new NanoAgentError("internal", "No journal was opened.");
      const live = new LiveSession({
        options,
        settings,
        composed,
        session,
        desk,
        notices: this.#notices,
        telemetry: await this.#telemetry(),
        reopen,
      });
      opened.live = live;
      await live.begin();
      this.#tellFindings(session);
      return live;
    } catch (error) {
      await giveBack(opened.session);
      throw error;
    }
  };

  readonly killNow = (): void => {
    const { live, session } = this.#opened;
    if (live === undefined) session?.release();
    else live.killNow();
  };

  async #telemetry(): Promise<Telemetry | undefined> {
    const { openTelemetry: config } = this.settings.config.values;
    if (config === undefined) return undefined;
    const { loadTelemetry } = await import("../open-telemetry.ts");
    return loadTelemetry(
      config,
      about("setting", (notice) => this.#notices.add(notice)),
    );
  }

  #tellFindings({ repairs, path }: OpenSession): void {
    const { folder, leftOut } = this.settings.trust;
    if (leftOut.length > 0)
      this.#notices.add({
        level: "warning",
        code: "untrusted",
        folder,
        items: leftOut.map(({ kind, path: file, does }) => ({ kind, path: file, does })),
      });
    if (repairs !== undefined && path !== undefined && hasRepairs(repairs))
      this.#notices.add({ level: "warning", code: "repaired", path, repairs });
  }
}

/** What the composition gets as it was given. */
function passedOn(options: CopyOptions): Omit<ComposeOptions, "settings" | "openJournal" | "onNotice"> {
  const { keep = true, remembers = keep, addDirs = [], model, tools, ports } = options;
  const { acceptServer, adoptErrors, pace } = options;
  const given = defined({ tools, model: typeof model === "object" ? model : undefined });
  return { ...given, remembers, addDirs, ports, acceptServer, adoptErrors, pace };
}

/** Why it could not be opened is what matters, not what giving it back says. */
async function giveBack(session: OpenSession | undefined): Promise<void> {
  await session?.close().catch(() => undefined);
}

async function reopen(options: CopyOptions): Promise<CodingSession> {
  return (await prepareCodingSession(options)).open();
}

function sessionChoice({ keep = true, resume, sessionId, entries }: CopyOptions): SessionChoice {
  const own = sessionId === undefined ? {} : { sessionId };
  if (resume === undefined)
    return { keep, fork: false, ...own, ...(entries === undefined ? {} : { entries }) };
  const { id, fork = false, at, step } = resume === "last" ? { id: "last" } : resume;
  if (!keep)
    throw new NanoAgentError(
      "invalid_argument",
      "A session that is not kept cannot go on with one that is. Leave out keep: false or resume.",
    );
  return {
    keep,
    from: id === "last" ? { type: "newest" } : { type: "id", id },
    fork,
    ...own,
    ...(at === undefined ? {} : { beforeEntry: at }),
    ...(step === undefined ? {} : { fromStep: step }),
  };
}
