import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Agent } from "../src/agent/agent.ts";
import { MemoryJournal } from "../src/core/agent/journal.ts";
import type { Json } from "../src/core/base/errors.ts";
import { defineTool, type Tool } from "../src/core/tool/tool.ts";
import type { CheckpointLimits } from "../src/session/undo/checkpoint-store.ts";
import {
  type RollbackOptions,
  type RollbackPlace,
  type RollbackReport,
  redo,
  undo,
} from "../src/session/undo/rollback.ts";
import { rollbackPlace, SessionCheckpoints } from "../src/session/undo/session-checkpoints.ts";
import { calls, says } from "../src/testing/script.ts";
import { ScriptedModel } from "../src/testing/scripted-model.ts";
import { tempFolder } from "./temp-folder.ts";

/**
 * What a call in an {@link UndoRoom} does: a shell script, or one path it says it writes and what it does
 * there.
 */
export type Deed = string | { readonly path: string; readonly act: (path: string) => void };

/** A workspace, a session, and a store beside it. */
export interface UndoRoom {
  readonly root: string;
  readonly journal: MemoryJournal;
  readonly notices: string[];
  /**
   * One run of the agent: each list of deeds is one answer of the model. Resolves to the texts of the
   * results.
   */
  readonly run: (turns: readonly (readonly Deed[])[]) => Promise<readonly string[]>;
  readonly undo: (
    options?: RollbackOptions & { readonly to?: { readonly run: number; readonly turn: number } },
  ) => Promise<RollbackReport>;
  readonly redo: (options?: RollbackOptions) => Promise<RollbackReport>;
  /** Everything below the root, `.git` left out. */
  readonly tree: () => Tree;
  readonly store: string;
}

/** A tree: paths as Latin-1 of their bytes, each with what stands there. */
export type Tree = { readonly [path: string]: Json };

/**
 * Makes such a room; it goes with the test. No call waits for longer than `maxWaitMs`, of which every look at
 * the clock takes one: work is counted and no time is measured. Without it calls wait for as long as it
 * takes.
 */
export function undoRoom(
  files: Readonly<Record<string, string>> = {},
  given: Partial<CheckpointLimits> = {},
): UndoRoom {
  const limits = { maxWaitMs: Number.MAX_SAFE_INTEGER, ...given };
  let looks = 0;
  const root = realpathSync(tempFolder(files));
  const store = join(tempFolder(), "nano-agent", "checkpoints");
  const journal = new MemoryJournal();
  const notices: string[] = [];
  const place = (): RollbackPlace => rollbackPlace({ folder: store, journal, cwd: root, limits });
  const run = async (turns: readonly (readonly Deed[])[]): Promise<readonly string[]> => {
    const results: string[] = [];
    const checkpointer = new SessionCheckpoints({
      folder: store,
      roots: [root],
      sessionId: journal.sessionId,
      journalPath: join(store, "none.jsonl"),
      limits,
      onNotice: (message) => notices.push(message),
      now: () => looks++,
    });
    const model = new ScriptedModel([
      ...turns.map((deeds, turn) =>
        deeds.map((deed, at) =>
          typeof deed === "string"
            ? calls("shell", { turn, at })
            : calls("put", { turn, at, path: deed.path }),
        ),
      ),
      says("done"),
    ]);
    const agent = new Agent({ model, tools: deedTools(turns, root), journal, checkpointer });
    await agent.run("go on", {
      onEvent: (event) => {
        if (event.type === "tool_result") results.push(String(event.result.content));
      },
    });
    await checkpointer.close();
    return results;
  };
  return {
    root,
    journal,
    notices,
    run,
    undo: (options) => undo(place(), options),
    redo: (options) => redo(place(), options),
    tree: () => treeOf(root),
    store,
  };
}

function deedTools(turns: readonly (readonly Deed[])[], root: string): Tool[] {
  const place = {
    type: "object",
    properties: { turn: { type: "integer" }, at: { type: "integer" }, path: { type: "string" } },
  } as const;
  return [
    defineTool({
      name: "shell",
      description: "Runs a script.",
      parameters: place,
      access: "exclusive",
      execute: ({ turn = 0, at = 0 }) => {
        const script = turns[turn]?.[at];
        return typeof script === "string"
          ? execFileSync("bash", ["-c", script], { cwd: root, encoding: "utf8" })
          : "";
      },
    }),
    defineTool({
      name: "put",
      description: "Changes one path.",
      parameters: place,
      access: ({ path = "" }) => ({ write: [join(root, path)] }),
      execute: ({ turn = 0, at = 0 }) => {
        const deed = turns[turn]?.[at];
        if (deed !== undefined && typeof deed !== "string") deed.act(join(root, deed.path));
        return "put";
      },
    }),
  ];
}

/** Everything below a folder. */
export function treeOf(root: string): Tree {
  const tree: Record<string, Json> = {};
  const visit = (folder: Buffer, shown: string): void => {
    for (const name of readdirSync(folder, "buffer")) {
      const path = Buffer.concat([folder, Buffer.from("/"), name]);
      const key = shown === "" ? name.toString("latin1") : `${shown}/${name.toString("latin1")}`;
      if (key === ".git") continue;
      const stats = lstatSync(path);
      const mode = (stats.mode & 0o7777).toString(8);
      if (stats.isSymbolicLink()) tree[key] = `link ${readlinkSync(path, "buffer").toString("latin1")}`;
      else if (stats.isDirectory()) {
        tree[key] = `folder ${mode}`;
        visit(path, key);
      } else if (stats.isFile()) tree[key] = `file ${mode} ${readFileSync(path).toString("latin1")}`;
      else tree[key] = "special";
    }
  };
  visit(Buffer.from(root), "");
  return tree;
}
