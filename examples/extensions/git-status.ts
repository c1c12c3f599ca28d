// A status item: how many files differ from the last commit, looked at after each tool call.
import { execFile } from "node:child_process";
import type { ExtensionApi } from "nano-agent/extension";

export default (agent: ExtensionApi): void => {
  let text: string | undefined;
  const look = (): void => {
    execFile("git", ["status", "--porcelain"], { cwd: agent.cwd }, (error, stdout) => {
      const changed = stdout.split("\n").filter((line) => line !== "").length;
      text = error === null && changed > 0 ? `±${changed}` : undefined;
    });
  };
  look();
  agent.hook("PostToolUse", look);
  agent.status(() => text);
};
