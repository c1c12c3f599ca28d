// One lazy module for all of these: each module loaded on its own adds a shared chunk to load.
export { loadCommands } from "../../extensions/commands/load-commands.ts";
export { loadExtensions } from "../../extensions/modules/load-extensions.ts";
export { extensionCommand, fileCommand, skillCommand } from "./plugin-commands.ts";
export { openSessionHooks } from "./session-hooks.ts";
