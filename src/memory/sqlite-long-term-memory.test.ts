import { join } from "node:path";
import { onTestFinished } from "vitest";
import { describeLongTermMemory } from "../../test/contracts/describe-long-term-memory.ts";
import { tempFolder } from "../../test/temp-folder.ts";
import { SqliteLongTermMemory } from "./sqlite-long-term-memory.ts";

describeLongTermMemory("SqliteLongTermMemory", (options) => {
  const memory = new SqliteLongTermMemory({ ...options, path: join(tempFolder(), "memory.db") });
  onTestFinished(() => memory.close());
  return memory;
});
