// One lazy module for all of them: each separately loaded module adds a shared chunk.
import type { Command } from "./command-call.ts";

export { completion } from "./commands/completion.ts";
export { demo } from "./commands/demo.ts";
export { evaluation as eval } from "./commands/evaluation.ts";
export { agents, extensions, skills } from "./commands/extensions.ts";
export { mcp } from "./commands/mcp.ts";
export { memory } from "./commands/memory.ts";
export { auth, models } from "./commands/models.ts";
export { permissions, trust } from "./commands/permissions.ts";
export { acp, serve } from "./commands/server-commands.ts";
export { sessions } from "./commands/sessions.ts";
export { config, doctor, importSettings } from "./commands/settings-commands.ts";
export { redo, undo } from "./commands/undo.ts";

/** `nano-agent worker`: processes durable runs until a signal ends it. */
export const worker: Command = async (call) => (await import("./commands/durable.ts")).runWorker(call);

/** `nano-agent runs list|show|cancel|retry|approve`: durable runs, whichever worker processes them. */
export const runs: Command = async (call) => (await import("./commands/durable.ts")).runsCommand(call);
