import { isAbsolute } from "node:path";
import { checkOptions, findProblem, objectOf } from "../../core/base/check.ts";
import { invalidConfig, misuse } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import { assertTool } from "../../core/tool/tool.ts";
import { SETTINGS_SCHEMA } from "../settings/setting-table.ts";
import type { CopyOptions } from "./session-parts.ts";

/** Throws `invalid_argument` for options that cannot work, `invalid_config` for settings that do not fit. */
export function assertSessionOptions(options: CopyOptions): void {
  checkOptions(options, OPTIONS);
  const { keepIn, permissionMode, tools = [] } = options;
  if (keepIn !== undefined && !isAbsolute(keepIn))
    throw misuse(`keepIn is ${JSON.stringify(keepIn)}; it must be an absolute path.`);
  for (const tool of tools) assertTool(tool);
  const settings = { ...options.settings, ...defined({ permissionMode }) };
  const problem = findProblem(settings, SETTINGS_SCHEMA, "settings");
  if (problem !== undefined) throw invalidConfig(`settings: ${problem.message}`);
}

const FUNCTION = { "x-function": true } as const;
const OBJECT = { type: "object" } as const;
const SWITCH = { type: "boolean" } as const;
const OPTIONS = objectOf<CopyOptions>({
  cwd: { type: "string", minLength: 1 },
  addDirs: { type: "array", items: { type: "string", minLength: 1 } },
  environment: OBJECT,
  settings: OBJECT,
  model: { anyOf: [{ type: "string" }, { "x-has": ["stream"] }], "x-say": "the name of a model, or a Model" },
  // One of the settings.
  permissionMode: {},
  resume: {
    anyOf: [{ const: "last" }, { type: "object", properties: { id: { type: "string" } }, required: ["id"] }],
    "x-say": '"last", or { id } with the id of a session',
  },
  sessionId: { type: "string" },
  keep: SWITCH,
  keepIn: { type: "string" },
  // Checked with the options of the agent.
  budget: OBJECT,
  remembers: SWITCH,
  tools: { type: "array" },
  ports: OBJECT,
  mcp: OBJECT,
  elicit: FUNCTION,
  acceptServer: FUNCTION,
  onNotice: FUNCTION,
  expandInput: FUNCTION,
  adoptErrors: FUNCTION,
  pace: FUNCTION,
  goOnCommand: FUNCTION,
  entries: { type: "array" },
});
