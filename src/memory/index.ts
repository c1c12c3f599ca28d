/// <reference types="node" preserve="true" />
export type {
  Compaction,
  CompactionPreview,
  CompactionTask,
  Compactor,
  ContextView,
} from "../core/agent/compactor.ts";
export type { CompactionReason } from "../core/agent/entry.ts";
export type { MemoryChoice, MemoryFilter, MemoryHost, MemoryItem } from "../core/agent/in-memory-memory.ts";
export {
  type LongTermMemory,
  type LongTermMemoryMode,
  type LongTermMemoryOptions,
  type Recollection,
  type Recordable,
  type RecordContext,
  type RecordOutcome,
  type RetrieveOptions,
  textsToRecord,
} from "../core/agent/long-term-memory.ts";
export type { CompactOptions, ConversationMemory } from "../core/agent/options.ts";
export { type FirstAndLastOptions, firstAndLast } from "./context/first-and-last.ts";
export { type SummaryCompactionOptions, summaryCompaction } from "./context/summary-compaction.ts";
export type { Embedder } from "./embedder.ts";
export { InMemoryLongTermMemory } from "./in-memory-long-term-memory.ts";
export { SimpleLongTermMemory, type SimpleLongTermMemoryOptions } from "./simple-long-term-memory.ts";
export {
  SqliteLongTermMemory,
  type SqliteLongTermMemoryOptions,
  type StoredMemory,
} from "./sqlite-long-term-memory.ts";
export type { LongTermStoreOptions } from "./store-options.ts";
