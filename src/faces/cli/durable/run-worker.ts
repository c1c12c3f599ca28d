import { EXIT, SIGNAL_EXITS } from "../../../app/coding-session/exit-code.ts";
import { currentFolder } from "../../../app/config/paths.ts";
import { misuse, NanoAgentError, toNanoAgentError } from "../../../core/base/errors.ts";
import { counted } from "../../../core/base/text.ts";
import { createFleet } from "../../../durable/fleet.ts";
import type { FleetOptions } from "../../../durable/fleet-options.ts";
import { type CommandCall, numberOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";
import { EndingSignals, untilAborted } from "../ending-signals.ts";
import { shownUrl, withoutPassword } from "./shown-url.ts";
import { loadWorkerConfig } from "./worker-config.ts";

/**
 * Works on the runs a module speaks of until SIGINT or SIGTERM; then lets go of them and ends with 0. A
 * second signal ends it at once.
 */
export async function runWorker(context: CommandContext, call: CommandCall): Promise<number> {
  const file = call.text("--config");
  if (file === undefined)
    throw misuse("worker needs to know what to work on: nano-agent worker --config worker.mjs");
  const concurrency = numberOf(call, "--concurrency", {
    least: 1,
    most: 999_999,
    what: "how many runs to work on at the same time, from 1",
  });
  const signals = new EndingSignals();
  try {
    const given = await loadWorkerConfig(file, currentFolder());
    const options = concurrency === undefined ? given : { ...given, concurrency };
    return await work(context, options, signals);
  } finally {
    signals.close();
  }
}

async function work(context: CommandContext, options: FleetOptions, signals: EndingSignals): Promise<number> {
  const { databaseUrl } = options;
  const fleet = await createFleet({
    ...options,
    onWarning: (message) => {
      say(context, withoutPassword(message, databaseUrl));
      options.onWarning?.(message);
    },
  }).catch((error: unknown) => {
    throw withoutSecrets(error, databaseUrl);
  });
  context.stdout.write(`${welcome(options)}\n`);
  // Letting go takes as long as the options say; only a second signal is impatient.
  signals.allowGrace(Number.POSITIVE_INFINITY);
  await untilAborted(signals.signal);
  context.stdout.write("Letting go of the runs at work. Once more ends it at once.\n");
  const forced = await Promise.race([fleet.close(), signals.forced]);
  return forced === undefined ? EXIT.done : SIGNAL_EXITS[forced];
}

function welcome({
  agents = {},
  concurrency = 50,
  version = "1",
  databaseUrl,
  dataDir,
}: FleetOptions): string {
  const names = Object.keys(agents).join(", ");
  const place = databaseUrl === undefined ? dataDir : shownUrl(databaseUrl);
  return `Working on ${names}: up to ${counted(concurrency, "run")} at the same time, version ${version}, from ${place}. Ctrl+C lets go of them.`;
}

/** The same error with a message that may be printed. */
function withoutSecrets(thrown: unknown, url: string | undefined): NanoAgentError {
  const error = toNanoAgentError(thrown);
  return new NanoAgentError(error.code, withoutPassword(error.message, url), { cause: error });
}
