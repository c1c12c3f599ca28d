import type { TrustItem } from "../../permission/trusted-project.ts";
import { loadConfigFile, loadProjectConfig } from "../settings/load-config.ts";
import { configPath, projectFolders, type UserPaths } from "../settings/paths.ts";
import { splitProjectConfig } from "../settings/settings.ts";
import { findActingFiles, projectPath } from "./acting-files.ts";

export interface ProjectItems {
  /** The folder approval is bound to: the root of the repository, else the working folder. */
  readonly folder: string;
  readonly items: readonly TrustItem[];
}

/** Everything that can act in the project of a folder. Throws `invalid_config` for unusable config files. */
export async function findTrustItems(cwd: string, paths: UserPaths): Promise<ProjectItems> {
  const folders = projectFolders(cwd);
  const folder = folders[0] ?? cwd;
  const user = (await loadConfigFile(configPath(paths)))?.config ?? {};
  const configs = await loadProjectConfig(folders);
  const settings = configs.flatMap(({ path, config }) =>
    splitProjectConfig(projectPath(folder, path), config, user).acting.map(({ item }) => item),
  );
  return { folder, items: [...settings, ...(await findActingFiles(folder, folders))] };
}
