import type { Settings } from "../../../coding/settings/settings.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { type CommandCall, numberOf, PORT, runFlagsOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";
import { untilAborted, withSignals } from "../ending-signals.ts";
import { withPromptFiles, withServerFiles } from "../session-options.ts";
import { ownStandardOutput } from "../standard-output.ts";
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
  const port = numberOf(call, "--http", PORT);
  const { cwd } = settings;
  const settingsOfRuns = withPromptFiles(config, cwd);
  const servers = await withServerFiles(mcp);
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
        mcp: servers,
        adoptErrors: strays.adopt,
        settings: settingsOfRuns,
        onNotice: (notice) => say(context, noticeText(notice)),
      },
    });
  const serve = async (signal: AbortSignal, forced: Promise<unknown>): Promise<number> => {
    if (port === undefined) {
      const served = serveStdio(newServer(), { input: process.stdin, output: ownStandardOutput(), signal });
      await Promise.race([served, forced]);
    } else {
      const serving = await serveHttp(port, newServer);
      stdout.write(`${serving.url}\ntoken: ${serving.token}\n`);
      await untilAborted(signal);
      await Promise.race([serving.close(), forced]);
    }
    return EXIT.done;
  };
  using _caught = strays.listen();
  return await withSignals(({ signal, forced }) => serve(signal, forced));
}
