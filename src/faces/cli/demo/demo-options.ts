import { parseArgs } from "node:util";
import { errorMessage } from "../../../core/base/errors.ts";
import { nearest } from "../../../core/base/text.ts";
import { usageError } from "../usage-error.ts";

/** What `nano-agent demo` was told. */
export interface DemoOptions {
  /** True: the scratch folder stays. */
  readonly keep: boolean;
  /** A real model, `provider/id`, in place of the scripted one. */
  readonly model?: string;
}

const NAMES = ["--keep", "--model", "--help"] as const;

/** Takes the words after `demo` apart. Throws `invalid_argument` for any other option or word, and for `--model` without a name. */
export function parseDemoOptions(args: readonly string[]): DemoOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { keep: { type: "boolean" }, model: { type: "string", short: "m" } },
    });
    if (values.model?.trim() === "") throw new TypeError("--model is empty.");
    return { keep: values.keep === true, ...(values.model === undefined ? {} : { model: values.model }) };
  } catch (error) {
    const unknown = args.find(
      (word) => word.startsWith("--") && !NAMES.some((name) => word.startsWith(name)),
    );
    const guess = unknown === undefined ? undefined : nearest(unknown, NAMES);
    const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
    const message = errorMessage(error).split(". ", 1)[0]?.replace(/\.$/, "") ?? "";
    throw usageError(
      `nano-agent demo: ${message}.${hint} Options: --keep, --model PROVIDER/ID, --help.`,
      error,
    );
  }
}
