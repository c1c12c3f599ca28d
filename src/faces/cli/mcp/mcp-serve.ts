import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { noticeText } from "../../../app/coding-session/notice-text.ts";
import type { Settings } from "../../../app/settings.ts";
import { misuse } from "../../../core/base/errors.ts";
import { type CommandCall, runFlagsOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";
import { withSignals } from "../ending-signals.ts";
import { withPromptFiles } from "../session-options.ts";
import { StrayErrors } from "../stray-errors.ts";

declare const NANO_AGENT_VERSION: string;

/** `nano-agent mcp serve`: the agent as an MCP server, on standard streams or a port of this machine. */
export async function mcpServe(
  context: CommandContext,
  settings: Settings,
  call: CommandCall,
): Promise<number> {
  const { stdout, environment } = context;
  const { config, addDirs, mcp } = runFlagsOf(call);
  const port = portOf(call);
  const { cwd } = settings;
  const settingsOfRuns = withPromptFiles(config, cwd);
  const { createAgentServer, serveHttp, serveStdio } = await import("../../mcp/serve.ts");
  const strays = new StrayErrors();
  const newServer = () =>
    createAgentServer({
      settings,
      tools: call.has("--tools"),
      version: NANO_AGENT_VERSION,
      session: {
        cwd,
        addDirs,
        environment,
        mcp,
        adoptErrors: strays.adopt,
        settings: settingsOfRuns,
        onNotice: (notice) => say(context, noticeText(notice)),
      },
    });
  const serve = async (signal: AbortSignal, forced: Promise<unknown>): Promise<number> => {
    if (port === undefined) {
      const served = serveStdio(newServer(), { input: process.stdin, output: process.stdout, signal });
      await Promise.race([served, forced]);
    } else {
      const serving = await serveHttp(port, newServer);
      stdout.write(`${serving.url}\ntoken: ${serving.token}\n`);
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      await Promise.race([serving.close(), forced]);
    }
    return EXIT.done;
  };
  const close = strays.listen();
  try {
    return await withSignals(({ signal, forced }) => serve(signal, forced));
  } finally {
    close();
  }
}

function portOf(call: CommandCall): number | undefined {
  const text = call.text("--http");
  if (text === undefined) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw misuse(`--http ${JSON.stringify(text)}: write a port from 1 to 65535, or 0 for a free one.`);
}
