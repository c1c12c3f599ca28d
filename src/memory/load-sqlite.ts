import { NanoAgentError } from "../core/base/errors.ts";

/**
 * The database of Node, without the warning some versions print when it is loaded: a library prints nothing. Throws `memory` where
 * this runtime has none.
 */
export function loadSqlite(): typeof import("node:sqlite") {
  const host: { emitWarning: unknown } = process;
  const emit = host.emitWarning;
  // Loading is synchronous: no other code runs, and no other warning is lost, before it is put back.
  host.emitWarning = (warning: string | Error, ...rest: readonly unknown[]): void => {
    if (typeof emit === "function" && !String(warning).includes("SQLite"))
      Reflect.apply(emit, process, [warning, ...rest]);
  };
  let sqlite: typeof import("node:sqlite") | undefined;
  try {
    sqlite = process.getBuiltinModule("node:sqlite");
  } finally {
    host.emitWarning = emit;
  }
  if (sqlite !== undefined) return sqlite;
  throw new NanoAgentError(
    "memory",
    `This runtime (${process.version}) has no node:sqlite: use Node 22.19 or newer, or InMemoryLongTermMemory.`,
  );
}
