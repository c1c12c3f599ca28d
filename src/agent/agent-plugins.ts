import type { RunPlugin } from "../core/agent/run-context.ts";
import { compactionPlugin } from "../memory/context/compaction.ts";
import { LongTermPlugin } from "../memory/long-term-plugin.ts";
import { loopGuardPlugin } from "../plugins/loop-guard-plugin.ts";
import type { AgentOptions } from "./options.ts";

/** The plugins of an agent's runs, hooks aside. Throws `invalid_argument` for options that cannot work. */
export function agentPlugins({ longTermMemory, loopGuard, compaction }: AgentOptions): readonly RunPlugin[] {
  const plugins: RunPlugin[] = [];
  if (longTermMemory !== undefined) plugins.push(new LongTermPlugin(longTermMemory));
  if (loopGuard !== false) plugins.push(loopGuardPlugin(loopGuard));
  if (compaction !== undefined && compaction !== false) plugins.push(compactionPlugin(compaction));
  return plugins;
}
