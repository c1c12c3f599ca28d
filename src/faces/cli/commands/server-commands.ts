import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { CodingSessionOptions } from "../../../coding/session/coding-session.ts";
import { currentFolder } from "../../../coding/settings/paths.ts";
import type { Settings } from "../../../coding/settings/settings.ts";
import { errorMessage, invalidArgument } from "../../../core/base/errors.ts";
import { withoutSessionHint } from "../../../session/session-error.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { type CommandCall, numberOf, PORT, runFlagsOf } from "../command-call.ts";
import { loadLocalSettings, ownStandardOutput, say } from "../command-context.ts";
import { untilAborted, withSignals } from "../ending-signals.ts";
import { UncaughtErrors } from "../foreign-code.ts";
import { readTextFile } from "../prompt.ts";
import { withPromptFiles, withServerFiles } from "../run-flags.ts";

declare const NANO_AGENT_VERSION: string;

const DEFAULT_PORT = 4040;
const MIN_TOKEN = 20;

/** Options from the command line for every session of a server. */
type SharedOptions = Required<
  Pick<CodingSessionOptions, "addDirs" | "environment" | "mcp" | "adoptErrors" | "settings" | "onNotice">
>;

/** Serves sessions until a signal comes. Errors that no session caught are reported and end nothing. */
async function serveUntilSignal(
  call: CommandCall,
  work: (session: SharedOptions, signal: AbortSignal) => Promise<{ readonly close: () => Promise<unknown> }>,
): Promise<number> {
  const { environment } = call;
  const { config, addDirs, mcp } = runFlagsOf(call);
  const strays = new UncaughtErrors();
  const session: SharedOptions = {
    addDirs,
    environment,
    mcp: await withServerFiles(mcp),
    adoptErrors: strays.adopt,
    settings: withPromptFiles(config, currentFolder()),
    onNotice: (notice) => say(call, noticeText(notice)),
  };
  using _caught = strays.listen();
  return await withSignals(async ({ signal, forced }) => {
    const { close } = await work(session, signal);
    await Promise.race([close(), forced]);
    return EXIT.done;
  });
}

/** `nano-agent acp`: serves an editor on standard streams until the editor disconnects. */
export async function acp(call: CommandCall): Promise<number> {
  const { serveAcp } = await import("../../acp/serve-acp.ts");
  return serveUntilSignal(call, async ({ environment, onNotice, ...session }, signal) => {
    const options = { environment, version: NANO_AGENT_VERSION, session, onNotice };
    return { close: () => serveAcp(options, process.stdin, ownStandardOutput(), signal) };
  });
}

/** `nano-agent serve`: the page and the API over HTTP, until a signal ends it. */
export async function serve(call: CommandCall): Promise<number> {
  const { isLoopback, serveSessions } = await import("../../http/serve-sessions.ts");
  const host = call.text("--host") ?? "127.0.0.1";
  const port = numberOf(call, "--port", PORT) ?? DEFAULT_PORT;
  const settings = await loadLocalSettings(call);
  const token = tokenOf(call, { host, isLocal: isLoopback(host), cwd: settings.cwd });
  return serveUntilSignal(call, async (session, signal) => {
    const served = await serveSessions({
      settings,
      port,
      host,
      token,
      readOnly: call.has("--read-only"),
      page: fileURLToPath(new URL("../../web", import.meta.url)),
      onError: (error) => say(call, `A request failed: ${withoutSessionHint(errorMessage(error))}`),
      session,
    });
    const address = `${served.url}#token=${served.token}`;
    call.stdout.write(`${address}\n`);
    if (!isLoopback(host))
      say(
        call,
        `Everybody who reaches ${host} and has the token can run commands as you. What is sent is not encrypted: use a tunnel, or a proxy with TLS.`,
      );
    if (call.has("--open"))
      openInBrowser(BROWSERS[process.platform] ?? "xdg-open", address, ({ message }) =>
        say(call, `The browser cannot be opened (${message}): open the address yourself.`),
      );
    await untilAborted(signal);
    return served;
  });
}

/** `nano-agent mcp serve`: the agent as an MCP server, on standard streams or a local port. */
export async function mcpServe(call: CommandCall, settings: Settings): Promise<number> {
  const port = numberOf(call, "--http", PORT);
  const { createAgentServer, serveHttp, serveStdio } = await import("../../mcp/serve.ts");
  return serveUntilSignal(call, async (shared, signal) => {
    const session = { ...shared, cwd: settings.cwd };
    const about = { settings, session, tools: call.has("--tools"), version: NANO_AGENT_VERSION };
    const newServer = () => createAgentServer(about);
    if (port === undefined) {
      return { close: () => serveStdio(newServer(), process.stdin, ownStandardOutput(), signal) };
    }
    const served = await serveHttp(port, newServer);
    call.stdout.write(`${served.url}\ntoken: ${served.token}\n`);
    await untilAborted(signal);
    return served;
  });
}

function tokenOf(
  call: CommandCall,
  { host, isLocal, cwd }: { readonly host: string; readonly isLocal: boolean; readonly cwd: string },
): string | undefined {
  const file = call.text("--token-file");
  if (file !== undefined && call.has("--token"))
    throw invalidArgument("--token and --token-file both give the token. Leave one out.");
  const token =
    file === undefined ? call.text("--token") : readTextFile(file, { what: "--token-file", cwd }).trim();
  if (token === undefined && !isLocal)
    throw invalidArgument(
      `--host ${host} lets other machines connect: anyone with the token can run commands as you. Give one of at least ${MIN_TOKEN} characters: openssl rand -hex 24 > token, then --token-file token.`,
    );
  if (token !== undefined && !/^[\x21-\x7e]{20,}$/.test(token))
    throw invalidArgument(
      `${file === undefined ? "--token" : `The token in ${file}`} needs at least ${MIN_TOKEN} characters, letters, digits and signs without blanks: openssl rand -hex 24 makes one.`,
    );
  return token;
}

/** The program that opens an address; other platforms have xdg-open. */
export const BROWSERS: { readonly [platform: string]: string } = { darwin: "open", win32: "explorer" };

/** Opens an address in a browser, which keeps running; `onFailure` learns why it could not be started. */
export function openInBrowser(
  browser: string,
  address: string,
  onFailure: (error: Error) => void = () => undefined,
): void {
  const child = spawn(browser, [address], { stdio: "ignore", detached: true });
  child.on("error", onFailure);
  child.unref();
}
