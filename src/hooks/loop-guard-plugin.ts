import type { Ending, LoopCircle } from "../core/agent/result.ts";
import { type Run, type RunPlugin, recordSystemMessage } from "../core/agent/run.ts";
import { check, objectOf } from "../core/base/check.ts";
import { misuse } from "../core/base/errors.ts";
import { LoopGuard, type LoopGuardOptions, type LoopGuardSettings, type LoopVerdict } from "./loop-guard.ts";
import { RepeatedText } from "./repeated-text.ts";

/** For a model that goes in circles. */
const ADVICE =
  "Going on like this will not change anything: work with what you know, try something else, or say what is in the way.";

/**
 * Warns a model that goes in circles, in its calls or in one answer, and ends its run when it goes on. Throws
 * `invalid_argument` for options that cannot be.
 */
export function loopGuardPlugin(options: LoopGuardOptions = {}): RunPlugin {
  const settings = loopGuardSettings(options);
  return {
    fold: LoopGuard,
    watchAnswer: () => {
      const repeated = new RepeatedText();
      return (part) => repeated.take(part);
    },
    afterTurn: (run) => {
      const bounded = Number.isFinite(run.until.maxIterations);
      const verdict = run.state.fold(LoopGuard)?.judge(settings, { bounded });
      return verdict === undefined ? undefined : warnOrStop(run, verdict);
    },
  };
}

async function warnOrStop(run: Run, { type, circle }: LoopVerdict): Promise<Ending | undefined> {
  const found = circleText(circle);
  if (type === "stop")
    return { stopReason: "loop_detected", circle, detail: `${found} The model was warned and went on.` };
  await recordSystemMessage(run, `${found} ${ADVICE}`, { code: "loop_warning", circle });
  return undefined;
}

const OPTIONS = objectOf<LoopGuardOptions>({
  warnAt: { type: "integer", minimum: 2 },
  stopAt: { type: "integer", minimum: 3 },
  window: { type: "integer", minimum: 0 },
});

/** The settings with defaults. Throws `invalid_argument`: whole numbers, and it warns before it stops. */
export function loopGuardSettings(options: LoopGuardOptions): LoopGuardSettings {
  check(options, OPTIONS, "loopGuard");
  const { warnAt, stopAt = 5, window = 12 } = options;
  const settings = { stopAt, warnAt: warnAt ?? Math.min(3, stopAt - 1), window };
  if (settings.warnAt < settings.stopAt) return settings;
  throw misuse(
    `loopGuard.warnAt is ${settings.warnAt} and stopAt ${settings.stopAt}: the model must be warned before it is stopped. Pass a lower warnAt.`,
  );
}

/** The circle in one sentence. */
export function circleText({ tools, calls }: LoopCircle): string {
  const [only, ...others] = tools;
  if (others.length === 0)
    return `The last ${calls} calls of ${only ?? "the tool"} had the same arguments and the same result.`;
  return `The last ${calls} tool calls repeat the same ${tools.length} (${tools.join(", ")}) with the same arguments and the same results.`;
}
