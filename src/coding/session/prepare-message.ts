import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../core/agent/entries.ts";
import { errorMessage, invalidArgument, type NanoAgentError } from "../../core/base/errors.ts";
import { closestMatch } from "../../core/base/text.ts";
import { type Input, toMessages } from "../../core/message/input.ts";
import { type Message, type ToolInput, textOf } from "../../core/message/message.ts";
import { parseCommandCall } from "../../extensions/commands/expand-command.ts";
import type { McpHub } from "../../extensions/mcp/mcp-hub.ts";
import { MCP_PREFIX } from "../../extensions/mcp/tool-name.ts";
import { warnAbout } from "../../view/notice.ts";
import type { SessionParts } from "./session-agent.ts";
import type { CommandUse, SessionCommand } from "./session-command.ts";

/** A message that is ready to be sent, or the reason it is not sent. */
export type PreparedMessage =
  | { readonly input: Input | undefined }
  | { readonly refused: string }
  /** A command finished without the model. */
  | { readonly done: true };

interface MessageRun {
  readonly parts: SessionParts;
  readonly signal: AbortSignal;
  readonly approver: Parameters<Agent["callTool"]>[2];
  readonly onEvent: (event: AgentEvent) => void;
  /** Receives cleanup to do when the run is over. */
  readonly onEnd: (release: () => void | Promise<void>) => void;
}

/**
 * Prepares a message: hooks may refuse or extend it, a command becomes its prompt, and mentioned resources
 * are prepended. Throws `invalid_argument` for an unknown command.
 */
export async function prepareMessage(
  input: Input | undefined,
  options: MessageRun,
): Promise<PreparedMessage> {
  const { parts, signal } = options;
  if (input === undefined) return { input };
  const { composed, current } = parts;
  const text = textOfMessage(input);
  const verdict = await composed.hooks?.submit(text ?? "", signal);
  if (verdict?.blocked !== undefined) return { refused: verdict.blocked };
  const prepared = await expandMessage(input, text, options);
  if (!("input" in prepared)) return prepared;
  for (const context of verdict?.context ?? []) await current.agent.observe(context);
  const hub = composed.mcp?.hub;
  const warn = warnAbout("mcp", (notice) => parts.notices.add(notice));
  const mentioned = hub === undefined ? [] : await mentionedResources(text ?? "", hub, signal, warn);
  for (const message of mentioned) await current.agent.observe([message]);
  return prepared;
}

/** The command that `text` calls, with its arguments; `undefined` for any other text. */
export function commandIn(
  text: string,
  commands: readonly SessionCommand[],
): { readonly command: SessionCommand; readonly args: string } | undefined {
  const call = parseCommandCall(text);
  const command = call && commands.find(({ name }) => name === call.name);
  return call && command && { command, args: call.args };
}

function textOfMessage(input: Input): string | undefined {
  if (typeof input === "string") return input;
  const messages = toMessages(input);
  const [only] = messages;
  if (messages.length !== 1 || only?.role !== "user") return undefined;
  return only.content.every(({ type }) => type === "text") ? textOf(only.content) : undefined;
}

async function expandMessage(
  input: Input,
  text: string | undefined,
  options: MessageRun,
): Promise<PreparedMessage> {
  const { parts, signal } = options;
  const commands = parts.composed.commands();
  const found = commandIn(text ?? "", commands);
  if (found !== undefined) return runCommand(found.command, found.args, options);
  const call = parseCommandCall(text ?? "");
  if (call?.name.startsWith(MCP_PREFIX) === true) {
    const prompt = await parts.composed.mcp?.findCommand(call.name, signal);
    if (prompt !== undefined) return runCommand(prompt, call.args, options);
  }
  // `/tmp` is a path, not a command, as long as it exists.
  if (call !== undefined && statSync(`/${call.name}`, { throwIfNoEntry: false }) === undefined)
    throw unknownCommand(call.name, commands);
  const { expandInput } = parts.options;
  if (typeof input !== "string" || expandInput === undefined) return { input };
  return { input: await expandInput(input, { signal }) };
}

function unknownCommand(name: string, commands: readonly SessionCommand[]): NanoAgentError {
  const names = commands.map((command) => command.name);
  const guess = closestMatch(name, names);
  const known = names.length === 0 ? "There are none here" : `Commands: ${shortList(names)}`;
  const hint = guess === undefined ? known : `Did you mean /${guess}?`;
  return invalidArgument(
    `There is no command /${name}. ${hint}. To send it as text, put a blank before it.`.replace("?.", "?"),
  );
}

const MAX_NAMES = 12;

function shortList(names: readonly string[]): string {
  const first = names.slice(0, MAX_NAMES).map((name) => `/${name}`);
  return names.length > MAX_NAMES ? `${first.join(", ")}, …` : first.join(", ");
}

async function runCommand(
  command: SessionCommand,
  args: string,
  options: MessageRun,
): Promise<PreparedMessage> {
  const { parts, onEnd } = options;
  for (const rule of command.allowedTools ?? []) addTemporaryRule(rule, command, options);
  if (command.model !== undefined) onEnd(await parts.current.setTemporaryModel(command.model));
  const { state, call, read } = commandCalls(options);
  try {
    const prompt = await command.expand(args, {
      sessionId: parts.current.agent.sessionId,
      signal: options.signal,
      notify: (message) => parts.notices.add({ level: "info", code: "extension", message }),
      run: (command) => call("bash", { command }),
      read,
    } satisfies CommandUse);
    if (prompt === undefined) return { done: true };
    if (command.agent === undefined || typeof prompt !== "string") return { input: prompt };
    return { input: await delegateToSubagent(command, command.agent, prompt, parts, call) };
  } catch (error) {
    if (state.refusal !== undefined) return { refused: state.refusal };
    throw error;
  }
}

async function delegateToSubagent(
  { name }: SessionCommand,
  agent: string,
  prompt: string,
  { composed, notices }: SessionParts,
  call: (name: string, input: ToolInput) => Promise<string>,
): Promise<string> {
  if (!composed.extensions.agents.includes(agent)) {
    const known =
      composed.extensions.agents.length === 0 ? "" : ` There are ${composed.extensions.agents.join(", ")}.`;
    const message = `There is no subagent ${agent}, so /${name} runs in the conversation itself.${known}`;
    notices.add({ level: "warning", code: "extension", message });
    return prompt;
  }
  const report = await call("task", { agent, prompt });
  return `/${name} was handed to the subagent ${agent}. Answer with what it reports, and add nothing it does not say:\n\n${report}`;
}

/** A rule that cannot be read allows nothing; the command runs without it. */
function addTemporaryRule(rule: string, { name }: SessionCommand, { parts, onEnd }: MessageRun): void {
  try {
    onEnd(parts.composed.rules.lend([rule]));
  } catch (error) {
    const message = `allowed-tools of /${name}: ${errorMessage(error)}`;
    parts.notices.add({ level: "warning", code: "extension", message });
  }
}

/** The calls that a command's text makes; they are judged like those of the model. */
function commandCalls({ parts, signal, approver, onEvent }: MessageRun) {
  const state: { refusal?: string } = {};
  const call = async (name: string, input: ToolInput): Promise<string> => {
    const { content } = await parts.current.agent.callTool(name, input, {
      ...approver,
      signal,
      onEvent: (event) => {
        if (event.type === "permission_decision" && event.action === "deny")
          state.refusal ??= `${name}: ${event.reason}`;
        onEvent(event);
      },
    });
    signal.throwIfAborted();
    if (state.refusal !== undefined) throw invalidArgument(state.refusal);
    return textOf(content);
  };
  const read = async (path: string): Promise<string | undefined> => {
    const exists = statSync(resolve(parts.settings.cwd, path), { throwIfNoEntry: false }) !== undefined;
    return exists ? `${path}:\n${await call("read", { path })}\n` : undefined;
  };
  return { state, call, read };
}

const MENTION = /(?<=^|[\s("'`])@([\w.-]+:[a-z][a-z\d+.-]*:[^\s"'`<>]*[^\s"'`<>.,;:!?)\]}])/giu;
const MAX_MENTIONS = 8;

/** Reads up to eight resources mentioned as `@server:uri`, and starts their servers. */
export async function mentionedResources(
  text: string,
  hub: Pick<McpHub, "readResource">,
  signal: AbortSignal,
  warn: (message: string) => void,
): Promise<readonly Message[]> {
  const mentions = [...new Set([...text.matchAll(MENTION)].flatMap(([, mention]) => mention ?? []))];
  const read = mentions.slice(0, MAX_MENTIONS).map(async (mention): Promise<readonly Message[]> => {
    try {
      const content = (await hub.readResource(mention, signal)) ?? [];
      return content.length === 0 ? [] : [{ role: "user", content }];
    } catch (error) {
      signal.throwIfAborted();
      warn(`The resource @${mention} cannot be read: ${errorMessage(error)}`);
      return [];
    }
  });
  return (await Promise.all(read)).flat();
}
