// One module for all: any module loaded on its own splits shared code into one more file to load.
export { loadCommands } from "../../extensions/commands/load-commands.ts";
export { loadExtensions } from "../../extensions/modules/load-extensions.ts";
export { extensionCommand, fileCommand, skillCommand } from "./plugin-commands.ts";
export { openSessionHooks } from "./session-hooks.ts";
