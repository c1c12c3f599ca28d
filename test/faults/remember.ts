import { SqliteLongTermMemory } from "../../src/memory/sqlite-long-term-memory.ts";

/**
 * Records facts one after the other in the long-term memory FILE and says of each when it is kept:
 * `node remember.ts FILE NAME COUNT`.
 */

const [, , path = "", name = "", count = ""] = process.argv;
const memory = new SqliteLongTermMemory({ path });
for (let at = 0; at < Number(count); at++) {
  await memory.record([`${name} fact ${at}`, `shared fact ${at}`]);
  await memory.retrieve(`fact ${at}`);
  process.stdout.write(`${name} fact ${at}\n`);
}
