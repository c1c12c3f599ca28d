export { JsonlJournal, type JsonlJournalOptions, type NewSession } from "./jsonl-journal.ts";
export { readSession, type SessionContent } from "./read-session.ts";
export type { SessionEntry } from "./record.ts";
export { hasRepairs, type InterruptedCall, type RepairReport } from "./repair-report.ts";
export type { DamagedLine } from "./scan-journal.ts";
export { isSessionId } from "./session-id.ts";
export { type SessionFile, SessionStore, type StartOptions } from "./session-store.ts";
export { type SessionCheck, verifySession } from "./verify-session.ts";
