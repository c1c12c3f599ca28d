// One module for all: any module loaded on its own splits shared code into one more file to load.
export { acp } from "./commands/acp.ts";
export { auth } from "./commands/auth.ts";
export { completion } from "./commands/completion.ts";
export { config } from "./commands/config.ts";
export { demo } from "./commands/demo.ts";
export { doctor } from "./commands/doctor.ts";
export { worker } from "./commands/durable-worker.ts";
export { agents, extensions, skills } from "./commands/extensions.ts";
export { importSettings } from "./commands/import-settings.ts";
export { mcp } from "./commands/mcp.ts";
export { memory } from "./commands/memory.ts";
export { models } from "./commands/models.ts";
export { permissions } from "./commands/permissions.ts";
export { runs } from "./commands/runs.ts";
export { serve } from "./commands/serve-page.ts";
export { sessions } from "./commands/sessions.ts";
export { trust } from "./commands/trust.ts";
export { redo, undo } from "./commands/undo.ts";
