import { isAbsolute } from "node:path";
import { checkOptions, findProblem, objectSchema } from "../../core/base/check-options.ts";
import { invalidArgument, invalidConfig } from "../../core/base/errors.ts";
import { newUuid } from "../../core/base/ids.ts";
import { omitUndefined } from "../../core/base/json.ts";
import type { Redaction } from "../../core/base/text.ts";
import { assertTool } from "../../core/tool/tool.ts";
import { hasRepairs } from "../../session/repair-report.ts";
import { readEnvironment } from "../../system/env.ts";
import { FileState } from "../../tools/files/file-state.ts";
import { type OnNotice, warnAbout } from "../../view/notice.ts";
import { currentFolder, existingFolder } from "../settings/paths.ts";
import { SETTINGS_SCHEMA } from "../settings/setting-table.ts";
import { loadSettings, type Settings } from "../settings/settings.ts";
import { containsHome } from "../setup/checkpoints.ts";
import { type Composition, compose } from "../setup/compose.ts";
import { redactionFor } from "../setup/confine.ts";
import { findSession, type OpenSession } from "../setup/open-session.ts";
import type { CodingSession, CodingSessionOptions } from "./coding-session.ts";
import { LiveSession } from "./live-session.ts";
import { createElicit, PendingQuestions } from "./pending-questions.ts";
import { type CopyOptions, SessionAgent } from "./session-agent.ts";
import { SessionNotices } from "./session-notices.ts";

/** A coding session whose settings are read but which is not open yet. */
export interface PreparedSession {
  readonly settings: Settings;
  readonly redact: Redaction | undefined;
  /** Id of the session, if already known. */
  readonly sessionId: string;
  /** Opens it. Throws if session, model, tool, folder or credentials are missing or the sandbox is broken. */
  readonly open: () => Promise<CodingSession>;
  /** Immediately ends everything started so far, right before the process ends. */
  readonly killNow: () => void;
}

/** Reads the settings. Throws `invalid_argument` for unusable options, otherwise `invalid_config`. */
export async function prepareCodingSession(options: CopyOptions): Promise<PreparedSession> {
  assertSessionOptions(options);
  const { environment = readEnvironment(), model, permissionMode } = options;
  const settings = await loadSettings({
    environment,
    cwd: existingFolder(options.cwd ?? currentFolder(), "cwd"),
    mcp: options.mcp,
    historyFolder: options.keepIn,
    flags: {
      ...options.settings,
      ...(typeof model === "string" && { model }),
      ...omitUndefined({ permissionMode }),
    },
  });
  const redact = redactionFor(environment, settings.config.values);
  const notices = new SessionNotices(redact, options.onNotice);
  for (const message of settings.config.notices) notices.add({ level: "warning", code: "setting", message });
  if (containsHome(settings)) notices.add({ level: "warning", code: "wide_folder", folder: settings.cwd });
  const opening: OpeningState = { sessionId: options.sessionId ?? newUuid() };
  return {
    settings,
    redact,
    get sessionId() {
      return opening.sessionId;
    },
    open: async () => {
      try {
        return await openSession(options, settings, notices, opening);
      } catch (error) {
        // The reason it could not be opened matters, not an error while releasing it.
        await opening.session?.saved?.close().catch(() => undefined);
        throw error;
      }
    },
    killNow: () => {
      if (opening.live === undefined) opening.session?.saved?.release();
      else opening.live.killNow();
    },
  };
}

/** A session while it is being opened. */
interface OpeningState {
  sessionId: string;
  session?: OpenSession;
  composed?: Composition;
  live?: LiveSession;
}

async function openSession(
  options: CopyOptions,
  settings: Settings,
  notices: SessionNotices,
  opening: OpeningState,
): Promise<CodingSession> {
  const { keep = true, remembers = keep, ports, model, elicit } = options;
  const { paths, cwd } = settings;
  const onNotice: OnNotice = (notice) => notices.add(notice);
  if (!keep && options.resume !== undefined) throw invalidArgument(UNSAVED_RESUME);
  const foundSession = findSession(options, paths, cwd, opening.sessionId);
  opening.sessionId = foundSession.sessionId;
  const state = new FileState();
  const questions = new PendingQuestions({
    settings,
    files: ports?.files,
    read: state,
    session: () => opening.session,
    notices,
    onChange: () => opening.live?.refreshView(),
    onAnswer: () => opening.live?.resumeAnswered(),
  });
  const composed = await compose({
    ...options,
    settings,
    remembers,
    model: typeof model === "object" ? model : undefined,
    elicit:
      elicit ??
      createElicit(questions, async (asked) => opening.composed?.hooks?.notify("elicitation_dialog", asked)),
    openSession: async () => (opening.session = await foundSession.open()),
    opened: () => opening.session,
    approval: questions,
    files: { state, agreed: questions },
    isAttended: () => questions.isAttended,
    onNotice,
  });
  opening.composed = composed;
  const { session } = composed;
  const { openTelemetry } = settings.config.values;
  const telemetry =
    openTelemetry &&
    (await (
      await import("../setup/open-telemetry.ts")
    ).loadTelemetry(openTelemetry, warnAbout("setting", onNotice)));
  const current = new SessionAgent(composed);
  const parts = { options, settings, composed, current, session, questions, notices, telemetry };
  opening.live = new LiveSession({ ...parts, reopen: createCodingSession });
  await opening.live.begin();
  reportFindings(settings, session, onNotice);
  return opening.live;
}

const UNSAVED_RESUME =
  "A session that is not kept cannot resume one that is. Leave out keep: false or resume.";

function reportFindings({ trust }: Settings, { saved }: OpenSession, onNotice: OnNotice): void {
  const { folder, leftOut: items } = trust;
  if (items.length > 0) onNotice({ level: "warning", code: "untrusted", folder, items });
  if (saved === undefined || !hasRepairs(saved.repairs)) return;
  const { path, repairs } = saved;
  onNotice({ level: "warning", code: "repaired", path, repairs });
}

/**
 * Opens a coding session in a folder with the same settings, model, built-in tools, permission, undo,
 * subagents and skills as the command. Throws for unusable settings, a missing session, model or folder,
 * missing credentials, and a sandbox that does not work. Close it, or declare it with `await using`.
 */
export async function createCodingSession(options: CodingSessionOptions = {}): Promise<CodingSession> {
  return (await prepareCodingSession(options)).open();
}

/** Throws `invalid_argument` for unusable options, `invalid_config` for settings that do not fit. */
function assertSessionOptions(options: CopyOptions): void {
  checkOptions(options, OPTIONS);
  const { keepIn, permissionMode, tools = [] } = options;
  if (keepIn !== undefined && !isAbsolute(keepIn))
    throw invalidArgument(`keepIn is ${JSON.stringify(keepIn)}; it must be an absolute path.`);
  for (const tool of tools) assertTool(tool);
  const settings = { ...options.settings, ...omitUndefined({ permissionMode }) };
  const problem = findProblem(settings, SETTINGS_SCHEMA, "settings");
  if (problem !== undefined) throw invalidConfig(`settings: ${problem.message}`);
}

const FUNCTION = { "x-function": true } as const;
const OBJECT = { type: "object" } as const;
const SWITCH = { type: "boolean" } as const;
const OPTIONS = objectSchema<CopyOptions>({
  cwd: { type: "string", minLength: 1 },
  addDirs: { type: "array", items: { type: "string", minLength: 1 } },
  environment: OBJECT,
  settings: OBJECT,
  model: { anyOf: [{ type: "string" }, { "x-has": ["stream"] }], "x-say": "the name of a model, or a Model" },
  // Checked as a setting.
  permissionMode: {},
  resume: {
    anyOf: [{ const: "last" }, { type: "object", properties: { id: { type: "string" } }, required: ["id"] }],
    "x-say": '"last", or { id } with the id of a session',
  },
  sessionId: { type: "string" },
  keep: SWITCH,
  keepIn: { type: "string" },
  // Checked with the options of the agent.
  budget: OBJECT,
  remembers: SWITCH,
  tools: { type: "array" },
  ports: OBJECT,
  mcp: OBJECT,
  elicit: FUNCTION,
  acceptServer: FUNCTION,
  onNotice: FUNCTION,
  expandInput: FUNCTION,
  adoptErrors: FUNCTION,
  pace: FUNCTION,
  goOnCommand: FUNCTION,
  entries: { type: "array" },
});
