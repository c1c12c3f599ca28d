import { dirname, join, sep } from "node:path";

/** The folders in which a file finds packages, the nearest first, each with a separator behind it. */
export function packageFolders(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [join(folder, "node_modules", sep), ...packageFolders(folder)];
}
