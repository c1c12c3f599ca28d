import { join } from "node:path";
import { defined } from "../../core/base/json.ts";
import { realPath } from "../../system/real-path.ts";

/** Where something came from: the package, the user's folders, or a project, which anybody may write. */
export type Origin = "builtin" | "user" | "project";

/** A folder that is searched. Of two things of one name that of the earlier folder is used. */
export interface SourceFolder {
  readonly path: string;
  readonly origin: "user" | "project";
  /** For folders of a project: the folder that links must not lead out of. */
  readonly root?: string;
}

/** Something found on the way that a person should know. */
export interface Finding {
  readonly path: string;
  readonly message: string;
  /** `fault`: it cannot be used as it is meant. `note`: it can, with a difference. */
  readonly level: "fault" | "note";
}

/** Where a project takes the place of what is the user's own, that is a fault. */
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

/** The subject of a decision about trust: one file (or a skill with its scripts) and its content. */
export interface TrustItem {
  readonly kind: "subagent" | "skill" | "command" | "extension";
  readonly name: string;
  readonly origin: Origin;
  readonly path: string;
  /** SHA-256 of what it consists of, in hexadecimal: any change of it makes another one. */
  readonly contentHash: string;
}

/** Decides about the acting parts of things of a project; the default refuses them. */
export type IsTrusted = (item: TrustItem) => boolean | Promise<boolean>;

export const trustsNoProject: IsTrusted = () => false;

/** Where to search. */
export interface SourcePlaces {
  /** Folders that speak for the project, its root first. */
  readonly projectFolders: readonly string[];
  readonly home: string;
  /** The user's configuration folder of nano-agent. */
  readonly configFolder: string;
}

/** Folders below a project folder, or below home, that hold things of one kind; the first one wins. */
const PROJECT_PARENTS = {
  skills: [".nano-agent", ".agents", ".claude"],
  agents: [".nano-agent", ".claude"],
  commands: [".nano-agent", ".claude"],
} as const;

/**
 * The folders that may hold skills, subagents or commands, those whose things are used first: of the project
 * from the working folder up to its root, then of the user. The home folder is the user's, also where it is
 * part of a project.
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
          ...defined({ root }),
        }),
      ),
    );
  const user = [join(configFolder, kind), ...parents.map((parent) => join(home, parent, kind))];
  return [...project, ...user.map((path): SourceFolder => ({ path, origin: "user" }))];
}
