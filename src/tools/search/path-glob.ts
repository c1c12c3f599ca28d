import picomatch from "picomatch";

/** How a glob without a slash is meant. */
export interface PathGlobOptions {
  /** True: it names files in any folder, as in ignore files. Default false: files directly in the folder. */
  readonly matchesBaseName?: boolean;
}

/**
 * Whether a path (relative, with `/`) fits a glob: `*` and `?` stay within a folder, `**` crosses folders, `{a,b}`, `[a-z]`, and a
 * leading `!` turns it round. Names that start with a dot are like others.
 */
export function pathGlob(glob: string, options: PathGlobOptions = {}): (path: string) => boolean {
  const pattern = glob.startsWith("./") ? glob.slice(2) : glob;
  const anywhere = options.matchesBaseName === true && !pattern.includes("/");
  return picomatch(pattern, { dot: true, basename: anywhere, nonegate: false });
}

/** The part of a glob about the last name, when every match must fit it and it means the same to every program; else `undefined`. */
export function lastNameOf(glob: string): string | undefined {
  const name = /[^/]+$/u.exec(glob)?.[0] ?? "";
  return !/[{}]/u.test(glob.slice(0, -name.length || undefined)) &&
    /^[\w.*?{},-]+$/u.test(name) &&
    isBalanced(name)
    ? name
    : undefined;
}

function isBalanced(name: string): boolean {
  return /^[^{}]*(?:\{[^{}]+\}[^{}]*)*$/u.test(name) && name !== "**";
}
