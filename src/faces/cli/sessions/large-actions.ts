// One lazy module for all of these: each module loaded on its own adds a shared chunk to load.
export { compactSession } from "./compact-session.ts";
export { findCommand } from "./find-command.ts";
export { importCommand } from "./import-command.ts";
export { replayCommand } from "./replay-command.ts";
