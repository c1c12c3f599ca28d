import { join } from "node:path";
import { omitUndefined } from "../../core/base/json.ts";
import { realPath } from "../../system/real-path.ts";

/** Where a definition came from: the package, the user's folders, or a project, which anybody may write. */
export type Origin = "builtin" | "user" | "project";

/** A folder to search. Of two definitions with the same name, the one in the earlier folder is used. */
export interface SourceFolder {
  readonly path: string;
  readonly origin: "user" | "project";
  /** For project folders: the folder that links must not leave. */
  readonly root?: string;
}

/** Something a person should know about a file that was found. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  /** `fault`: it cannot be used as intended. `note`: it can, with a difference. */
  readonly level: "fault" | "note";
}

/** It is a fault if a project's definition replaces one that is not a project's. */
export function replacedFinding(
  hidden: { readonly path: string; readonly origin: Origin },
  what: string,
  by: { readonly path: string; readonly origin: Origin },
): Finding {
  const isTaken = by.origin === "project" && hidden.origin !== "project";
  return {
    path: hidden.path,
    level: isTaken ? "fault" : "note",
    message: `the ${what} of ${by.path} is used instead`,
  };
}

/** The subject of a trust decision: one file (or a skill with its scripts) and its content. */
export interface TrustItem {
  readonly kind: "subagent" | "skill" | "command" | "extension";
  readonly name: string;
  readonly origin: Origin;
  readonly path: string;
  /** SHA-256 of its content in hexadecimal: any change makes it a different item. */
  readonly contentHash: string;
}

/** Decides whether a project's definitions may act; the default refuses. */
export type IsTrusted = (item: TrustItem) => boolean | Promise<boolean>;

export const trustNoProject: IsTrusted = () => false;

/** Where to search. */
export interface SourcePlaces {
  /** The project's folders, its root first. */
  readonly projectFolders: readonly string[];
  readonly home: string;
  /** The user's nano-agent configuration folder. */
  readonly configFolder: string;
}

/** Folders below a project folder or home that hold definitions of one kind; the first one wins. */
const PROJECT_PARENTS = {
  skills: [".nano-agent", ".agents", ".claude"],
  agents: [".nano-agent", ".claude"],
  commands: [".nano-agent", ".claude"],
} as const;

/**
 * The folders that may hold skills, subagents or commands, by precedence: the project's from the working
 * directory up to its root, then the user's. The home folder counts as the user's, even inside a project.
 */
export function sourceFolders(
  kind: keyof typeof PROJECT_PARENTS,
  places: SourcePlaces,
): readonly SourceFolder[] {
  const { projectFolders, home, configFolder } = places;
  const parents = PROJECT_PARENTS[kind];
  const root = projectFolders[0];
  const ownHome = realPath(home);
  const project = projectFolders
    .toReversed()
    .filter((folder) => realPath(folder) !== ownHome)
    .flatMap((folder) =>
      parents.map(
        (parent): SourceFolder => ({
          path: join(folder, parent, kind),
          origin: "project",
          ...omitUndefined({ root }),
        }),
      ),
    );
  const user = [join(configFolder, kind), ...parents.map((parent) => join(home, parent, kind))];
  return [...project, ...user.map((path): SourceFolder => ({ path, origin: "user" }))];
}
