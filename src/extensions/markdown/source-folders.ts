import { join } from "node:path";
import { defined } from "../../core/base/json.ts";
import { realPath } from "../../system/real-path.ts";
import type { SourceFolder } from "./origin.ts";

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
