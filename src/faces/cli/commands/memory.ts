import { existsSync } from "node:fs";
import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { userPaths } from "../../../app/config/paths.ts";
import { memoryPath } from "../../../app/open-memory.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { SqliteLongTermMemory } from "../../../memory/sqlite-long-term-memory.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";

/** Records `list` and `search` show. */
const MOST = 50;

/** `nano-agent memory …`: what the long-term memory holds. */
export async function memory(context: CommandContext, call: CommandCall): Promise<number> {
  const { action, words } = call;
  const json = call.has("--json");
  const path = memoryPath(userPaths(context.environment));
  // A look makes no file, and needs no place for one.
  if (action !== "forget" && !existsSync(path)) return show(context, [], json);
  const store = new SqliteLongTermMemory({
    path,
    onNotice: (message) => context.stderr.write(`nano-agent: ${terminalLine(message, 2_000)}\n`),
  });
  try {
    if (action === "forget") return await forget(context, { store, words });
    const query = words.join(" ");
    const found = await (query === "" ? store.list({ limit: MOST }) : store.retrieve(query, { limit: MOST }));
    return show(context, found, json);
  } finally {
    store.close();
  }
}

interface ShownMemory {
  readonly id: string;
  readonly text: string;
  readonly time: number;
}

function show({ stdout }: CommandContext, memories: readonly ShownMemory[], json: boolean): number {
  const rows = memories.map(({ id, text, time }) => ({ id, time: new Date(time).toISOString(), text }));
  if (json) stdout.write(`${JSON.stringify(rows)}\n`);
  else if (rows.length === 0)
    stdout.write(
      'Nothing. "memory": { "longTerm": "both" } in your own configuration makes runs remember.\n',
    );
  else
    for (const { id, time, text } of rows)
      stdout.write(`${id.padStart(5)}  ${time.slice(0, 10)}  ${terminalLine(text, 300)}\n`);
  return EXIT.done;
}

async function forget(
  { stdout }: CommandContext,
  { store, words }: { readonly store: SqliteLongTermMemory; readonly words: readonly string[] },
): Promise<number> {
  const count = await store.forget(...words);
  stdout.write(`Forgot ${count} of ${words.length}.\n`);
  return count === words.length ? EXIT.done : EXIT.failed;
}
