// A command with arguments: `/review src` makes the prompt for a review of what changed there.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { ExtensionApi } from "nano-agent/extension";

const run = promisify(execFile);

export default (agent: ExtensionApi): void => {
  agent.command({
    name: "review",
    description: "Review what changed since the last commit",
    argumentHint: "[path]",
    run: async (args, { cwd, notify }) => {
      const { stdout } = await run("git", ["diff", "HEAD", "--", args === "" ? "." : args], { cwd });
      if (stdout === "") {
        notify("Nothing has changed.");
        return undefined;
      }
      return `Review this change. Name bugs first, then what is unclear.\n\n\`\`\`diff\n${stdout}\`\`\``;
    },
  });
};
