import { isRecord } from "../../../core/base/json.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { leftOutText } from "../../../view/notice-text.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { answer, type CommandContext, say, settingsHere } from "../command-context.ts";

/** `nano-agent config`: the settings in force and where each comes from. Secrets are masked. */
export async function config(context: CommandContext, call: CommandCall): Promise<number> {
  const { config: effective, paths, trust } = await settingsHere(context);
  for (const notice of effective.notices) say(context, notice);
  if (trust.leftOut.length > 0) say(context, leftOutText(trust.leftOut));
  const rows = [...effective.sources]
    .map(([key, source]) => ({ key, value: masked(key, valueAt(effective.values, key)), source }))
    .sort((left, right) => left.key.localeCompare(right.key, "en"));
  const none = `Nothing is set. Your own settings go to ${paths.configFolder}/config.json, a project's to nano-agent.json.`;
  const lines = rows.map(
    ({ key, value, source }) =>
      `${key} = ${terminalLine(JSON.stringify(value), 200)}  (${terminalLine(source, 300)})`,
  );
  answer(context, call, { json: () => rows, text: () => `${lines.join("\n") || none}\n` });
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
