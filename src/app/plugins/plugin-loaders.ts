// One module for all: what is loaded on its own splits the code it shares with a run into one more file to
// load.
export { loadCommands } from "../../extensions/commands/load-commands.ts";
export { loadExtensions } from "../../extensions/modules/load-extensions.ts";
export { openSessionHooks } from "./open-hooks.ts";
export { extensionCommand, fileCommand, skillCommand } from "./plugin-commands.ts";
