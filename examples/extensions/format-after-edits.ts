// Runs the project's formatter on a file after the agent wrote or edited it. The result tells the model what
// the formatter said.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ExtensionApi } from "nano-agent/extension";

const run = promisify(execFile);

export default (agent: ExtensionApi): void => {
  agent.hook(
    "PostToolUse",
    async ({ tool_input: input, cwd }, signal) => {
      const path = input?.["path"];
      if (typeof path !== "string" || !/\.(?:ts|js|json|css|md)$/.test(path)) return undefined;
      try {
        await run("npx", ["--no-install", "prettier", "--write", path], { cwd, signal });
        return undefined;
      } catch (error) {
        return { additionalContext: `prettier: ${error instanceof Error ? error.message : String(error)}` };
      }
    },
    { matcher: "edit|write" },
  );
};
