import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Control } from "./control.ts";

/** Writes a text into the project's AGENTS.md, and tells the model; without a text, shows what is remembered across sessions. */
export async function remember(control: Control, args: string): Promise<void> {
  if (args === "") {
    await control.ports.runOwn(["memory", "list"], "Remembered");
    return;
  }
  const path = join(control.ports.cwd, "AGENTS.md");
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  const gap = before === "" ? "" : before.endsWith("\n") ? "" : "\n";
  appendFileSync(path, `${gap}- ${args.replaceAll(/\s*\n\s*/g, " ")}\n`);
  control.say("remembered in AGENTS.md", "good");
}
