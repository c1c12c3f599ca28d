import { nearest } from "../../core/base/text.ts";
import { usageError } from "./usage-error.ts";

/** What `nano-agent trust` was told. */
export interface TrustWords {
  readonly action: "approve" | "list" | "remove";
  readonly folder: string | undefined;
  readonly yes: boolean;
  readonly json: boolean;
}

const OPTIONS = ["--yes", "--list", "--remove", "--json", "--help"];

/** Takes the words after `trust` apart. Throws `invalid_argument` for others than it knows. */
export function trustWords(args: readonly string[]): TrustWords {
  const options = args.filter((word) => word.startsWith("-"));
  const [folder, ...more] = args.filter((word) => !word.startsWith("-"));
  const unknown = options.find((word) => !OPTIONS.includes(word));
  if (unknown !== undefined) {
    const guess = nearest(unknown, OPTIONS);
    const hint = guess === undefined ? "" : ` Did you mean ${guess}?`;
    throw usageError(`nano-agent trust does not know ${unknown}.${hint} Options: ${OPTIONS.join(", ")}.`);
  }
  if (more.length > 0) throw usageError(`nano-agent trust takes one folder, and ${more[0]} is another one.`);
  const has = (name: string): boolean => options.includes(name);
  const actions = ["--yes", "--list", "--remove"].filter(has);
  if (actions.length > 1) throw usageError(`${actions.join(" and ")} exclude each other. Leave one out.`);
  const action = has("--list") ? "list" : has("--remove") ? "remove" : "approve";
  return { action, folder, yes: has("--yes"), json: has("--json") };
}
