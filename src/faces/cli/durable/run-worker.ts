import { currentFolder } from "../../../coding/settings/paths.ts";
import { invalidConfig, misuse, NanoAgentError, toNanoAgentError } from "../../../core/base/errors.ts";
import { counted } from "../../../core/base/text.ts";
import type { FleetOptions } from "../../../durable/durable-run.ts";
import { createFleet, type Fleet } from "../../../durable/fleet.ts";
import { EXIT, SIGNAL_EXITS } from "../../../view/exit-code.ts";
import { type CommandCall, numberOf } from "../command-call.ts";
import { type CommandContext, say } from "../command-context.ts";
import { EndingSignals, untilAborted } from "../ending-signals.ts";
import { shownUrl, withoutPassword } from "./shown-url.ts";
import { loadWorkerConfig } from "./worker-config.ts";

/**
 * Works on the runs a module speaks of until SIGINT or SIGTERM; then lets go of them and ends with 0. A
 * second signal ends it at once, and so does the first while nothing is at work yet.
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
  using signals = new EndingSignals();
  const opened = await Promise.race([opening(context, { file, concurrency }), signals.forced]);
  return typeof opened === "string" ? SIGNAL_EXITS[opened] : await work(context, opened, signals);
}

interface OpenedFleet {
  readonly fleet: Fleet;
  readonly options: FleetOptions;
}

async function opening(
  context: CommandContext,
  { file, concurrency }: { readonly file: string; readonly concurrency: number | undefined },
): Promise<OpenedFleet> {
  const given = await loadWorkerConfig(file, currentFolder());
  const options = concurrency === undefined ? given : { ...given, concurrency };
  const { databaseUrl } = options;
  const fleet = await createFleet({
    ...options,
    onWarning: (message) => {
      say(context, withoutPassword(message, databaseUrl));
      options.onWarning?.(message);
    },
  }).catch((error: unknown) => {
    throw faultOf(file, error, databaseUrl);
  });
  return { fleet, options };
}

async function work(
  context: CommandContext,
  { fleet, options }: OpenedFleet,
  signals: EndingSignals,
): Promise<number> {
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

/** The error with a message that may be printed. Options that do not fit are a fault of the file. */
function faultOf(file: string, thrown: unknown, url: string | undefined): NanoAgentError {
  const error = toNanoAgentError(thrown);
  const message = withoutPassword(error.message, url);
  if (error.code === "invalid_argument") return invalidConfig(`${file}: ${message}`, { cause: error });
  return new NanoAgentError(error.code, message, { cause: error });
}
