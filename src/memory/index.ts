export { type FirstAndLastOptions, firstAndLast } from "./context/first-and-last.ts";
export { type SummaryCompactionOptions, summaryCompaction } from "./context/summary-compaction.ts";
