import type { CodingSession } from "../../../coding/session/coding-session.ts";
import type { NewModel, ServerModels } from "../../../coding/setup/model-setup.ts";
import { type Fields, isRecord, safeParse } from "../../../core/base/json.ts";
import type { Notice } from "../../../view/notice.ts";
import type { KeyAction, Keymap } from "../editor/keymap.ts";
import type { Line } from "../paint/line.ts";
import type { ChoiceOptions } from "../panels/choice-panel.ts";
import type { PageOptions } from "../panels/panel.ts";
import type { FieldOptions, PickOptions } from "../panels/picker.ts";
import type { ScreenFace } from "../screen.ts";

export interface KnownSession {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
  readonly title: string;
  readonly changedAt: number;
}

/** The ways to a model; loaded when a person wants one. */
export interface ModelSetUp {
  readonly ownersOf: (key: string) => readonly string[];
  readonly modelsAt: (baseUrl: string, key?: string) => Promise<ServerModels>;
  readonly setUp: (model: NewModel) => Promise<string>;
  /** Each server that was looked for on this machine, and its answer. */
  readonly localServers: () => Promise<readonly string[]>;
}

/** The actions that reach beyond the screen; the program brings them. */
export interface ControlPorts {
  /** Opens a new session, or one that is kept. */
  readonly openSession: (resume?: { readonly id: string }) => Promise<CodingSession>;
  readonly onSession: (session: CodingSession) => void;
  /** Gives the terminal to another program for so long. */
  readonly lendTerminal: <T>(use: () => Promise<T>) => Promise<T>;
  readonly suspend: () => void;
  readonly writeInEditor: (text: string) => Promise<string>;
  readonly clipboardImage: () => Promise<Uint8Array | undefined>;
  /** Leaves the screen; the program ends with the code of the last run. */
  readonly end: () => void;
  readonly elapsed: () => number;
  readonly setTheme: (name: string) => void;
  readonly cwd: string;
  readonly listSessions: (all?: boolean) => readonly KnownSession[];
  readonly modelSetUp: () => Promise<ModelSetUp>;
  /** Approves what a project brings, as it was when the session was opened. */
  readonly approve: (untrusted: UntrustedNotice) => Promise<void>;
  readonly saveModel: (model: string) => Promise<void>;
  /** Runs a sub-command of the program and gives what it wrote. Rejects with what it says when it fails. */
  readonly command: (words: readonly string[]) => Promise<string>;
  /** Runs a sub-command and shows what it wrote. */
  readonly runOwn: (words: readonly string[], title: string) => Promise<void>;
}

export type UntrustedNotice = Extract<Notice, { code: "untrusted" }>;

/** The screen for commands, and the actions of a person on it. */
export interface Control {
  readonly screen: ScreenFace;
  readonly keymap: Keymap;
  readonly ports: ControlPorts;
  readonly act: (action: KeyAction, key: string) => void;
  /** Says something in the place of the status for a moment. */
  readonly say: (text: string, role?: "warning" | "bad" | "good" | "muted") => void;
  readonly print: (lines: readonly (string | Line)[]) => void;
  /** Lets a person choose from a list; it is closed before the choice counts. */
  readonly pick: <T>(options: PickOptions<T>) => void;
  /** Asks for a line of text; it is closed before the text counts. Undefined: the person went back. */
  readonly ask: (options: Omit<FieldOptions, "onEnter" | "onCancel">) => Promise<string | undefined>;
  /** Asks something that must not be answered by accident; it is closed before the answer counts. */
  readonly choose: <T>(options: Omit<ChoiceOptions<T>, "now">) => void;
  readonly page: (options: PageOptions) => void;
  /** Does something that takes its time; what goes wrong is said. */
  readonly run: (work: Promise<unknown>) => void;
  readonly send: (text: string) => void;
  /** Takes another session and closes this one, which stays where the other cannot be opened. */
  readonly switchTo: (open: () => Promise<CodingSession>, isResumed: boolean) => Promise<void>;
}

/** The objects of a list that a sub-command wrote as JSON. */
export function recordsIn(json: string): readonly Fields[] {
  const parsed = safeParse(json);
  const rows: readonly unknown[] = parsed.ok && Array.isArray(parsed.value) ? parsed.value : [];
  return rows.filter(isRecord);
}
