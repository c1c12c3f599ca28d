import { join } from "node:path";
import type { AgentOptions } from "../../agent/options.ts";
import type { ConfigFile } from "../settings/config-schema.ts";
import type { UserPaths } from "../settings/paths.ts";

export interface OpenMemory {
  readonly agentOptions: Pick<AgentOptions, "longTermMemory">;
  /** Tools it gives the model. They only change the user's own state, so they need no permission. */
  readonly toolNames: readonly string[];
  readonly close: () => void;
}

/** Names of those tools. Rules may name them even if there is no memory. */
export const MEMORY_TOOLS: readonly string[] = ["record_to_memory", "retrieve_from_memory"];

export function memoryPath({ stateFolder }: UserPaths): string {
  return join(stateFolder, "memory.db");
}

/** Prepares the long-term memory of `memory.longTerm`; touches no file yet. Loads nothing if it is unset. */
export async function openMemory(
  config: ConfigFile,
  paths: UserPaths,
  onNotice: (message: string) => void,
): Promise<OpenMemory> {
  const mode = config.memory?.longTerm;
  if (mode === undefined) return { agentOptions: {}, toolNames: [], close: () => undefined };
  const { SqliteLongTermMemory } = await import("../../memory/sqlite-long-term-memory.ts");
  const store = new SqliteLongTermMemory({ path: memoryPath(paths), onNotice });
  return {
    agentOptions: { longTermMemory: { store, mode } },
    toolNames: mode === "static" ? [] : MEMORY_TOOLS,
    close: () => store.close(),
  };
}
