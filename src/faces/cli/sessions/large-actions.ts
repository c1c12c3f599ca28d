// One module for all: any module loaded on its own splits shared code into one more file to load.
export { compactSession } from "./compact-session.ts";
export { findCommand } from "./find-command.ts";
export { importCommand } from "./import-command.ts";
export { replayCommand } from "./replay-command.ts";
