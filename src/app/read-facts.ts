import type { ModelInfo } from "../core/model/model.ts";
import type { LocalServerOptions } from "./local-servers.ts";

const LOCAL_NAME = /^(?:ollama|lmstudio|llamacpp|vllm)\//i;

/** What the server of a local model says about it. Whoever names another model loads nothing and asks nobody. */
export async function readFacts(name: string, options: LocalServerOptions): Promise<ModelInfo | undefined> {
  if (!LOCAL_NAME.test(name)) return undefined;
  const { localModelFacts } = await import("./local-servers.ts");
  return localModelFacts(name, options);
}
