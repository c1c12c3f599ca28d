import { existsSync } from "node:fs";
import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { userPaths } from "../../../app/config/paths.ts";
import { memoryPath } from "../../../app/open-memory.ts";
import { SqliteLongTermMemory } from "../../../memory/sqlite-long-term-memory.ts";
import type { CommandContext } from "../command-context.ts";
import { terminalLine } from "../terminal-text.ts";
import { usageError } from "../usage-error.ts";

const USAGE =
  "Usage: nano-agent memory list [--json] · nano-agent memory search WORD… [--json] · nano-agent memory forget ID…";

/** Records `list` and `search` show. */
const MOST = 50;

/** `nano-agent memory …`: what the long-term memory holds. */
export async function memory(context: CommandContext, args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  const [action = "list", ...words] = args.filter((word) => word !== "--json");
  const option = [action, ...words].find((word) => word.startsWith("-"));
  if (option !== undefined) throw usageError(`memory does not know ${option}. ${USAGE}`);
  const path = memoryPath(userPaths(context.environment));
  const isLook = (action === "list" && words.length === 0) || (action === "search" && words.length > 0);
  // A look makes no file, and needs no place for one.
  if (isLook && !existsSync(path)) return show(context, [], json);
  const store = new SqliteLongTermMemory({
    path,
    onNotice: (message) => context.stderr.write(`nano-agent: ${terminalLine(message, 2_000)}\n`),
  });
  try {
    if (action === "forget") return await forget(context, { store, words });
    if (action === "list" && words.length === 0)
      return show(context, await store.list({ limit: MOST }), json);
    if (action === "search" && words.length > 0)
      return show(context, await store.retrieve(words.join(" "), { limit: MOST }), json);
  } finally {
    store.close();
  }
  throw usageError(`memory ${args.join(" ")}: that is no way to ask it. ${USAGE}`);
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
  if (words.length === 0) throw usageError(`memory forget needs the ids of records. ${USAGE}`);
  const count = await store.forget(...words);
  stdout.write(`Forgot ${count} of ${words.length}.\n`);
  return count === words.length ? EXIT.done : EXIT.failed;
}
