import { currentFolder } from "../../../coding/settings/paths.ts";
import { EXIT } from "../../../view/exit-code.ts";
import type { Notice } from "../../../view/notice.ts";
import { noticeText } from "../../../view/notice-text.ts";
import { type CommandCall, runFlagsOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";
import { withSignals } from "../ending-signals.ts";
import { withPromptFiles, withServerFiles } from "../session-options.ts";
import { ownStandardOutput } from "../standard-output.ts";
import { StrayErrors } from "../stray-errors.ts";

declare const NANO_AGENT_VERSION: string;

/** `nano-agent acp`: serves an editor on standard streams until it goes away. */
export async function acp(context: CommandContext, call: CommandCall): Promise<number> {
  const { environment } = context;
  const { config, addDirs, mcp } = runFlagsOf(call);
  const { serveAcp } = await import("../../acp/serve-acp.ts");
  const strays = new StrayErrors();
  const options = {
    environment,
    version: NANO_AGENT_VERSION,
    session: {
      settings: withPromptFiles(config, currentFolder()),
      addDirs,
      mcp: await withServerFiles(mcp),
      adoptErrors: strays.adopt,
    },
    onNotice: (notice: Notice) => say(context, noticeText(notice)),
  };
  using _caught = strays.listen();
  return await withSignals(async ({ signal }) => {
    await serveAcp(options, { input: process.stdin, output: ownStandardOutput(), signal });
    return EXIT.done;
  });
}
