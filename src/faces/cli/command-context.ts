import type { Environment } from "../../app/config/env.ts";
import type { Output } from "./output.ts";

/** What a command works with. */
export interface CommandContext {
  readonly environment: Environment;
  readonly stdout: Output;
  readonly stderr: Output;
}
