// A tool of your own, with progress while it works.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionApi, ToolContext } from "nano-agent/extension";

export default (agent: ExtensionApi): void => {
  agent.tool({
    name: "count_lines",
    description:
      "Count the lines of all files with an ending in the working folder, e.g. to compare modules.",
    inputSchema: {
      type: "object",
      properties: { ending: { type: "string", description: "Such as .ts" } },
      required: ["ending"],
    },
    readOnly: true,
    execute: async ({ ending }: { readonly ending: string }, { cwd, signal, update }: ToolContext) => {
      let lines = 0;
      const names = await readdir(cwd, { recursive: true });
      const wanted = names.filter((name) => name.endsWith(ending) && !name.includes("node_modules"));
      for (const [index, name] of wanted.entries()) {
        signal.throwIfAborted();
        lines += (await readFile(join(cwd, name), "utf8")).split("\n").length - 1;
        update(`${index + 1} of ${wanted.length} files\n`);
      }
      return `${lines} lines in ${wanted.length} files`;
    },
  });
};
