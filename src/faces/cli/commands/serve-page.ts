import { fileURLToPath } from "node:url";
import { errorMessage, misuse } from "../../../core/base/errors.ts";
import { withoutUnkept } from "../../../session/session-error.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { type CommandCall, numberOf, PORT, runFlagsOf } from "../command-call.ts";
import { type CommandContext, say, settingsHere } from "../command-context.ts";
import { untilAborted, withSignals } from "../ending-signals.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { readTextFile } from "../prompt.ts";
import { withPromptFiles, withServerFiles } from "../session-options.ts";
import { StrayErrors } from "../stray-errors.ts";

const DEFAULT_PORT = 4040;
const MIN_TOKEN = 20;

/** `nano-agent serve`: the page and the API over HTTP, until a signal ends it. */
export async function serve(context: CommandContext, call: CommandCall): Promise<number> {
  const { stdout, environment } = context;
  const { config, addDirs, mcp } = runFlagsOf(call);
  const { isLoopback, serveSessions } = await import("../../http/serve-sessions.ts");
  const host = call.text("--host") ?? "127.0.0.1";
  const port = numberOf(call, "--port", PORT) ?? DEFAULT_PORT;
  const settings = await settingsHere(context);
  const token = tokenOf(call, { host, isLocal: isLoopback(host), cwd: settings.cwd });
  const servers = await withServerFiles(mcp);
  const strays = new StrayErrors();
  using _caught = strays.listen();
  return await withSignals(async ({ signal, forced }) => {
    const serving = await serveSessions({
      settings,
      port,
      host,
      token,
      readOnly: call.has("--read-only"),
      page: fileURLToPath(new URL("../../web", import.meta.url)),
      onError: (error) => say(context, `A request failed: ${withoutUnkept(errorMessage(error))}`),
      session: {
        addDirs,
        environment,
        mcp: servers,
        adoptErrors: strays.adopt,
        settings: withPromptFiles(config, settings.cwd),
        onNotice: (notice) => say(context, noticeText(notice)),
      },
    });
    const address = `${serving.url}#token=${serving.token}`;
    stdout.write(`${address}\n`);
    if (!isLoopback(host))
      say(
        context,
        `Everybody who reaches ${host} and has the token can run commands as you. What is sent is not encrypted: use a tunnel, or a proxy with TLS.`,
      );
    if (call.has("--open")) openInBrowser(address, (reason) => say(context, reason));
    await untilAborted(signal);
    await Promise.race([serving.close(), forced]);
    return EXIT.done;
  });
}

interface TokenNeeds {
  readonly host: string;
  readonly isLocal: boolean;
  readonly cwd: string;
}

function tokenOf(call: CommandCall, { host, isLocal, cwd }: TokenNeeds): string | undefined {
  const file = call.text("--token-file");
  if (file !== undefined && call.has("--token"))
    throw misuse("--token and --token-file both give the token. Leave one out.");
  const token =
    file === undefined ? call.text("--token") : readTextFile(file, { what: "--token-file", cwd }).trim();
  if (token === undefined && !isLocal)
    throw misuse(
      `--host ${host} lets other machines ask: whoever has the token can run commands as you. Give one of at least ${MIN_TOKEN} characters: openssl rand -hex 24 > token, then --token-file token.`,
    );
  if (token !== undefined && !/^[\x21-\x7e]{20,}$/.test(token))
    throw misuse(
      `${file === undefined ? "--token" : `The token in ${file}`} needs at least ${MIN_TOKEN} characters, letters, digits and signs without blanks: openssl rand -hex 24 makes one.`,
    );
  return token;
}
