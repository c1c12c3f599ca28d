import { type Message, messageText, type UserMessage, userMessage } from "../../core/message/message.ts";
import type { FileAction, TouchedFiles } from "./touched-files.ts";

/** The facts in a note about a compaction. */
export interface Note {
  /** By the model; undefined when there is none. */
  readonly summary: string | undefined;
  readonly todo: string | undefined;
  /** As the user has approved it. */
  readonly plan: string | undefined;
  readonly files: TouchedFiles;
}

/** Options of {@link Note}. */
export interface NoteFacts extends Note {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Messages that were left out. */
  readonly leftOut: number;
}

const OPEN = "<conversation_summary>";
const CLOSE = "</conversation_summary>";
const BEGINNING = /^<conversation_summary>\nOn [\d-]+ \d+ older messages of this conversation were left out /;
/** Files a note names at most; those touched longest ago are left out. */
const MAX_FILES = 200;

/**
 * The message that stands for what was left out, in the name of the user, since several providers refuse a
 * conversation that begins with the model. It is read again by the next compaction.
 */
export function noteMessage({ now, leftOut, summary, todo, plan, files }: NoteFacts): UserMessage {
  const lead =
    summary === undefined
      ? "They could not be summarised: what is needed of them must be found out again."
      : "A summary stands in their place. Go on from there; do not ask for what it tells, and do not do again what is done.";
  return userMessage(
    [
      OPEN,
      `On ${new Date(now).toISOString().slice(0, 10)} ${leftOut} older messages of this conversation were left out to make room. What the user wrote stands above word for word. ${lead}`,
      ...section("summary", summary),
      ...section("approved_plan", plan),
      ...section("todo_list", todo),
      ...section("files_touched", filesText(files)),
      CLOSE,
    ].join("\n"),
  );
}

/** Content of a note; undefined for any other message. */
export function readNote(message: Message): Note | undefined {
  if (message.role !== "user" || message.content.length !== 1) return undefined;
  const text = messageText(message);
  if (!BEGINNING.test(text) || !text.endsWith(CLOSE)) return undefined;
  return {
    summary: sectionOf(text, "summary"),
    todo: sectionOf(text, "todo_list"),
    plan: sectionOf(text, "approved_plan"),
    files: filesIn(sectionOf(text, "files_touched") ?? ""),
  };
}

/** Tags of a note inside a text, which a model repeats that has seen one, would mislead the next reader. */
const TAGS = /^<(\/?(?:conversation_summary|summary|approved_plan|todo_list|files_touched)>)/gm;

function section(name: string, text: string | undefined): readonly string[] {
  if (text === undefined || text.trim() === "") return [];
  return [`<${name}>`, text.trim().replaceAll(TAGS, "< $1"), `</${name}>`];
}

function sectionOf(text: string, name: string): string | undefined {
  const start = text.indexOf(`\n<${name}>\n`);
  if (start < 0) return undefined;
  const from = start + name.length + 4;
  const end = text.indexOf(`\n</${name}>`, from);
  return end < 0 ? undefined : text.slice(from, end);
}

function filesText(files: TouchedFiles): string {
  return [...files]
    .slice(-MAX_FILES)
    .map(
      ([path, actions]) =>
        `- ${[...actions].join(", ")}: ${/[\r\n]/.test(path) ? JSON.stringify(path) : path}`,
    )
    .join("\n");
}

const ACTIONS: readonly string[] = ["read", "written", "edited"] satisfies readonly FileAction[];

function filesIn(text: string): TouchedFiles {
  const files = new Map<string, ReadonlySet<FileAction>>();
  for (const [, words = "", path = ""] of text.matchAll(/^- ([a-z, ]+): (.+)$/gm)) {
    const actions = words.split(", ").filter((word): word is FileAction => ACTIONS.includes(word));
    if (actions.length > 0) files.set(path, new Set(actions));
  }
  return files;
}
