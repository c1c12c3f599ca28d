import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { currentFolder } from "../../../app/config/paths.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { loadSettings } from "../../../app/settings.ts";
import { leftOutText } from "../../../app/trust/left-out-text.ts";
import { isRecord } from "../../../core/base/json.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";

/**
 * `nano-agent config`: the settings in force here, and where each comes from. What may be a secret is masked.
 */
export async function config(context: CommandContext, call: CommandCall): Promise<number> {
  const json = call.has("--json");
  const { environment, stdout, stderr } = context;
  const { config: effective, paths, trust } = await loadSettings({ environment, cwd: currentFolder() });
  for (const notice of effective.notices) stderr.write(`nano-agent: ${terminalLine(notice, 2_000)}\n`);
  if (trust.leftOut.length > 0)
    stderr.write(`nano-agent: ${terminalLine(leftOutText(trust.leftOut), 2_000)}\n`);
  const rows = [...effective.sources]
    .map(([key, source]) => ({ key, value: masked(key, valueAt(effective.values, key)), source }))
    .sort((left, right) => left.key.localeCompare(right.key, "en"));
  if (json) {
    stdout.write(`${JSON.stringify(rows)}\n`);
    return EXIT.done;
  }
  if (rows.length === 0)
    stdout.write(
      `Nothing is set. Your own settings go to ${paths.configFolder}/config.json, a project's to nano-agent.json.\n`,
    );
  for (const { key, value, source } of rows)
    stdout.write(`${key} = ${terminalLine(JSON.stringify(value), 200)}  (${terminalLine(source, 300)})\n`);
  return EXIT.done;
}

function valueAt(values: object, path: string): unknown {
  const dot = path.indexOf(".");
  const [first, rest] = dot === -1 ? [path, ""] : [path.slice(0, dot), path.slice(dot + 1)];
  const value = isRecord(values) ? values[first] : undefined;
  return rest === "" ? value : isRecord(value) ? value[rest] : undefined;
}

/** Headers may carry keys, and addresses passwords. */
function masked(key: string, value: unknown): unknown {
  if (typeof value === "string") return value.replace(/(\/\/)[^/@\s]+@/g, "$1***@");
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).map(([name, item]): [string, unknown] => {
    if (name !== "headers" || !isRecord(item)) return [name, masked(`${key}.${name}`, item)];
    return [name, Object.fromEntries(Object.keys(item).map((header) => [header, "***"]))];
  });
  return Object.fromEntries(entries);
}
