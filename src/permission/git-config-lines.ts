/** Keys that git itself writes, by section: harmless wherever they come from. */
const KEYS: ReadonlyMap<string, RegExp> = new Map([
  [
    "core",
    /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|hidedotfiles|sparsecheckout|sparsecheckoutcone)$/,
  ],
  ["extensions", /^(?:objectformat|compatobjectformat|refstorage|partialclone|worktreeconfig|noop)$/],
  ["user", /^(?:name|email)$/],
  ["branch", /^(?:remote|pushremote|merge|rebase|description)$/],
  ["remote", /^(?:url|pushurl|fetch|push|tagopt|mirror|promisor|partialclonefilter)$/],
  ["submodule", /^(?:url|active)$/],
]);

/** Sections that have a name of their own behind them. */
const NAMED = new Set(["branch", "remote", "submodule"]);

const HEADER = /^\[([a-z]+)( "[^"\\\p{Cc}]*")?\]$/u;

/**
 * The lines of a `config` of git, each with its section, that are more than what git itself writes there
 * (formats, the user, branches, remotes, urls of submodules). By strict patterns, not as git reads: what no
 * pattern describes counts as more. Lines that a backslash joins count as one.
 */
export function linesBeyondGit(config: string): readonly string[] {
  let section = "";
  return config.split(/(?<!\\\r?)\n/).flatMap((line) => {
    if (line === "") return [];
    if (!line.trimStart().startsWith("["))
      return isKnownSetting(section, line) ? [] : [`${section} ${line.trim()}`];
    const [, name = "", subsection] = HEADER.exec(line) ?? [];
    section = name === "" ? line.trim() : name + (subsection ?? "");
    return KEYS.has(name) && NAMED.has(name) === (subsection !== undefined) ? [] : [line];
  });
}

const SETTING = /^\t([A-Za-z][A-Za-z-]*) = ([^\s"'\\;#\p{Cc}](?:[^"\\;#\p{Cc}]*[^\s"\\;#\p{Cc}])?)$/u;

/** An address may name a program as its transport (`ext::sh -c …`), or be taken for an option. */
function isKnownSetting(section: string, line: string): boolean {
  const [, key = "", value = ""] = SETTING.exec(line) ?? [];
  const isKnown = KEYS.get(section.split(" ")[0] ?? "")?.test(key.toLowerCase()) === true;
  return isKnown && !value.includes("::") && !value.startsWith("-");
}

/**
 * True when every line of a `config` is one that git itself writes, or stood in the same section `before`:
 * {@link linesBeyondGit}.
 */
export function isWrittenByGit(config: string, before = ""): boolean {
  const known = new Set(linesBeyondGit(before));
  return linesBeyondGit(config).every((line) => known.has(line));
}
