// One module for all: each module that is loaded on its own splits the code it shares with a run into one
// more file to load.
export { sessionPage } from "../../../app/session-page/session-page.ts";
export { compactSession } from "./compact-session.ts";
export { findCommand } from "./find-command.ts";
export { importCommand } from "./import-command.ts";
export { replayCommand } from "./replay-command.ts";
