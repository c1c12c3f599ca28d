import { existsSync } from "node:fs";
import { userPaths } from "../../../coding/settings/paths.ts";
import { memoryPath } from "../../../coding/setup/open-memory.ts";
import { SqliteLongTermMemory } from "../../../memory/sqlite-long-term-memory.ts";
import { EXIT } from "../../../view/exit-code.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { CommandCall } from "../command-call.ts";
import { say, writeResult } from "../command-context.ts";

const MAX_RECORDS = 50;

/** `nano-agent memory …`: the contents of the long-term memory. */
export async function memory(call: CommandCall): Promise<number> {
  const { action, words } = call;
  const path = memoryPath(userPaths(call.environment));
  // Reading creates no file and needs no place for one.
  if (action !== "forget" && !existsSync(path)) return show(call, []);
  const store = new SqliteLongTermMemory({
    path,
    onNotice: (message) => say(call, message),
  });
  try {
    if (action === "forget") {
      const count = await store.forget(...words);
      const isAll = count === words.length;
      const advice = isAll ? "" : " nano-agent memory list shows the ids.";
      call.stdout.write(`Forgot ${count} of ${words.length}.${advice}\n`);
      return isAll ? EXIT.done : EXIT.failed;
    }
    const query = words.join(" ");
    const found = await (query === ""
      ? store.list({ limit: MAX_RECORDS })
      : store.retrieve(query, { limit: MAX_RECORDS }));
    return show(call, found);
  } finally {
    store.close();
  }
}

function show(
  call: CommandCall,
  memories: readonly { readonly id: string; readonly text: string; readonly time: number }[],
): number {
  const rows = memories.map(({ id, text, time }) => ({ id, time: new Date(time).toISOString(), text }));
  const lines = rows.map(
    ({ id, time, text }) => `${id.padStart(5)}  ${time.slice(0, 10)}  ${terminalLine(text, 300)}`,
  );
  const none =
    'Nothing is remembered. To have runs remember, set "memory": { "longTerm": "both" } in your own configuration.';
  return writeResult(call, rows, `${lines.join("\n") || none}\n`);
}
