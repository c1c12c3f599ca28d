import type { ModelRequest } from "../model/model.ts";

/** The request fields that stay the same over a whole run. */
export type RequestDefaults = Omit<ModelRequest, "messages" | "tools" | "toolChoice">;
