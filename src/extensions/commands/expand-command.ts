import type { Origin } from "../markdown/origin.ts";

export interface CommandFile {
  /** Relative path without the extension, `:` between folders: `git:commit`, called as `/git:commit`. */
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** Permission rules that apply while it runs. Empty if the project is not trusted. */
  readonly allowedTools: readonly string[];
  readonly model?: string;
  readonly agent?: string;
  readonly origin: Origin;
  readonly path: string;
  readonly body: string;
  readonly mayRun: boolean;
}

export interface CommandCall {
  readonly name: string;
  readonly args: string;
}

/** Parses a prompt as a call: `/name` or `/folder:name` at the very start, then arguments. */
export function parseCommandCall(prompt: string): CommandCall | undefined {
  const [, name, args = ""] =
    /^\/([\p{L}\p{N}_][\p{L}\p{N}_.:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt.trimEnd()) ?? [];
  return name === undefined ? undefined : { name, args: args.trim() };
}

/** A piece of a command's text; `source` is its original text in the file. */
export type CommandPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "argument"; readonly index: number; readonly source: string }
  | { readonly type: "run"; readonly command: string; readonly source: string }
  | { readonly type: "file"; readonly path: string; readonly source: string };

/** Both operations go through permission like any call of the model. */
export interface CommandPorts {
  readonly run: (command: string) => Promise<string>;
  /** `undefined` if the file does not exist, which leaves the text unchanged. */
  readonly read: (path: string) => Promise<string | undefined>;
}

/** Splits a command's own text into pieces, in order. Inserted text is never parsed again. */
export function commandParts(body: string): readonly CommandPart[] {
  const parts: CommandPart[] = [];
  let end = 0;
  for (const match of body.matchAll(PART)) {
    const { run, argument, file } = match.groups ?? {};
    if (match.index > end) parts.push({ type: "text", text: body.slice(end, match.index) });
    end = match.index + match[0].length;
    const source = match[0];
    if (run !== undefined) parts.push({ type: "run", command: run, source });
    else if (argument !== undefined)
      parts.push({ type: "argument", index: argument === "ARGUMENTS" ? 0 : Number(argument), source });
    else parts.push({ type: "file", path: file ?? "", source });
  }
  if (end < body.length) parts.push({ type: "text", text: body.slice(end) });
  return parts;
}

/** A path ends before whitespace, quotes, brackets, and punctuation at the end of a sentence. */
const PART =
  /!`(?<run>[^`]+)`|\$(?<argument>ARGUMENTS\b|[1-9](?!\d))|(?<=^|[\s(])@(?<file>[^\s`'"()<>[\]{}@]*[^\s`'"()<>[\]{}@.,;:!?])/gmu;

/** Expands a command to its prompt: each part of its text in order, unplaced arguments at the end. */
export async function expandCommand(
  { body, mayRun }: Pick<CommandFile, "body" | "mayRun">,
  args: string,
  ports: CommandPorts,
): Promise<string> {
  const parts = commandParts(body);
  const texts: string[] = [];
  for (const part of parts) texts.push(await partText(part, mayRun, ports, args));
  const takesArguments = parts.some(({ type }) => type === "argument");
  return takesArguments || args === "" ? texts.join("") : `${texts.join("")}\n\n${args}`;
}

async function partText(
  part: CommandPart,
  mayRun: boolean,
  ports: CommandPorts,
  args: string,
): Promise<string> {
  switch (part.type) {
    case "text":
      return part.text;
    case "argument":
      return part.index === 0 ? args : (splitArguments(args)[part.index - 1] ?? "");
    case "run":
      return mayRun ? ports.run(part.command) : part.source;
    case "file":
      return (await ports.read(part.path)) ?? part.source;
  }
}

/** Splits arguments at whitespace as a shell does; quotes keep words together. */
export function splitArguments(text: string): readonly string[] {
  const words: string[] = [];
  for (const [, double, single, plain] of text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g))
    words.push(double ?? single ?? plain ?? "");
  return words;
}
