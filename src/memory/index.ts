/// <reference types="node" preserve="true" />

export type { CompactionReason } from "../core/agent/entries.ts";
export type { LocalJournal } from "../core/agent/journal.ts";
export type { ConversationMemory } from "../core/agent/run.ts";
export type {
  Compaction,
  CompactionPreview,
  CompactionTask,
  CompactOptions,
  Compactor,
  ContextView,
} from "./context/compactor.ts";
export { type FirstAndLastOptions, firstAndLast } from "./context/first-and-last.ts";
export { type SummaryCompactionOptions, summaryCompaction } from "./context/summary-compaction.ts";
export type { MemoryChoice, MemoryFilter, MemoryHost, MemoryItem } from "./in-memory-memory.ts";
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
} from "./long-term-memory.ts";
export { SimpleLongTermMemory, type SimpleLongTermMemoryOptions } from "./simple-long-term-memory.ts";
export {
  InMemoryLongTermMemory,
  SqliteLongTermMemory,
  type SqliteLongTermMemoryOptions,
  type StoredMemory,
} from "./sqlite-long-term-memory.ts";
export type { Embedder, LongTermStoreOptions } from "./store-options.ts";
