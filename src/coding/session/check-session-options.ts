import { isAbsolute } from "node:path";
import {
  anything,
  assertEach,
  assertType,
  type Checks,
  having,
  isOf,
  texts,
} from "../../core/base/check-option.ts";
import { defined } from "../../core/base/defined.ts";
import { invalidConfig, misuse } from "../../core/base/errors.ts";
import { assertTool, type Tool } from "../../core/tool/tool.ts";
import { CONFIG_SHAPE } from "../settings/setting-table.ts";
import { findMisfit } from "../settings/shape.ts";
import type { CopyOptions } from "./session-parts.ts";

/** Throws `invalid_argument` for options that cannot work, `invalid_config` for settings that do not fit. */
export function assertSessionOptions(options: CopyOptions): void {
  assertEach(options, OPTIONS);
  const { permissionMode } = options;
  const settings = { ...options.settings, ...defined({ permissionMode }) };
  const misfit = findMisfit(settings, CONFIG_SHAPE);
  if (misfit !== undefined) throw invalidConfig(`settings: ${misfit.message}.`);
}

const OPTIONS: Checks<CopyOptions> = {
  cwd: (value, name) => {
    assertType(name, value, "string");
    if (value === "") throw misuse("cwd is empty: leave it out for the folder of the process.");
  },
  addDirs: texts,
  environment: isOf("object"),
  settings: isOf("object"),
  model: (value, name) => {
    if (typeof value !== "string") modelItself(value, name);
  },
  // One of the settings.
  permissionMode: anything,
  resume: (value) => {
    if (value === "last" || typeof (value as { readonly id?: unknown } | null)?.id === "string") return;
    throw misuse('resume must be "last", or { id } with the id of a session.');
  },
  sessionId: isOf("string"),
  keep: isOf("boolean"),
  keepIn: (value, name) => {
    assertType(name, value, "string");
    if (!isAbsolute(value as string))
      throw misuse(`keepIn is ${JSON.stringify(value)}: pass an absolute path.`);
  },
  // Checked with the options of the agent.
  budget: isOf("object"),
  remembers: isOf("boolean"),
  tools: (value, name) => {
    assertType(name, value, "list");
    for (const tool of value as readonly Tool[]) assertTool(tool);
  },
  ports: isOf("object"),
  mcp: isOf("object"),
  elicit: isOf("function"),
  acceptServer: isOf("function"),
  onNotice: isOf("function"),
  expandInput: isOf("function"),
  adoptErrors: isOf("function"),
  pace: isOf("function"),
  goOnCommand: isOf("function"),
  entries: isOf("list"),
};

const modelItself = having(["stream"], "model is neither the name of a model nor a Model: pass one of them.");
