import { EXIT, SIGNAL_EXITS } from "../../../app/coding-session/exit-code.ts";
import { noticeText } from "../../../app/coding-session/notice-text.ts";
import { currentFolder } from "../../../app/config/paths.ts";
import { type CommandCall, runFlagsOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";
import { EndingSignals } from "../ending-signals.ts";
import { withPromptFiles } from "../session-options.ts";

declare const NANO_AGENT_VERSION: string;

/**
 * `nano-agent acp`: serves an editor on standard input and output until it goes away. Nothing else is written
 * to standard output.
 */
export async function acp(context: CommandContext, call: CommandCall): Promise<number> {
  const { environment } = context;
  const { config, addDirs } = runFlagsOf(call);
  const { serveAcp } = await import("../../acp/serve-acp.ts");
  const signals = new EndingSignals();
  signals.allowGrace();
  try {
    await serveAcp(
      {
        environment,
        version: NANO_AGENT_VERSION,
        session: { settings: withPromptFiles(config, currentFolder()), addDirs },
        onNotice: (notice) => say(context, noticeText(notice)),
      },
      { input: process.stdin, output: process.stdout, signal: signals.signal },
    );
    return signals.received === undefined ? EXIT.done : SIGNAL_EXITS[signals.received];
  } finally {
    signals.close();
  }
}
