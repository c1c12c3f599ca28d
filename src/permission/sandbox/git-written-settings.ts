/** Values that hold no quotes, comments, line continuations or control characters. */
const PLAIN = /^[^"'#;\\\p{Cc}]*$/u;
/** No option, no helper of its own (`ext::…`). */
const ADDRESS = /^(?!-)(?!.*::)[^"'#;\\\p{Cc}]+$/u;

const SECTIONS: { readonly [section: string]: { readonly [key: string]: RegExp } } = {
  core: {
    repositoryformatversion: /^[01]$/,
    filemode: /^(?:true|false)$/,
    bare: /^(?:true|false)$/,
    logallrefupdates: /^(?:true|false)$/,
    ignorecase: /^(?:true|false)$/,
    precomposeunicode: /^(?:true|false)$/,
    symlinks: /^(?:true|false)$/,
    // That of a submodule, as seen from below `.git/modules`.
    worktree: /^(?:\.\.\/){2,}[\w.-]+(?:\/[\w.-]+)*$/,
  },
  extensions: { objectformat: /^sha(?:1|256)$/, refstorage: /^(?:files|reftable)$/, partialclone: PLAIN },
  init: { defaultbranch: PLAIN },
  user: { name: PLAIN, email: PLAIN },
  branch: { remote: /^[\w.-]+$/, merge: /^refs\/[\w./-]+$/, rebase: /^(?:true|false)$/ },
  remote: {
    url: ADDRESS,
    fetch: /^\+?refs\/[\w./*-]+:refs\/[\w./*-]+$/,
    promisor: /^(?:true|false)$/,
    partialclonefilter: PLAIN,
    tagopt: /^--(?:no-)?tags$/,
  },
  submodule: { url: ADDRESS, active: PLAIN },
};

const HEADER = /^\[(core|extensions|init|user|(?:branch|remote|submodule) "[^"\\\p{Cc}]*")\]$/u;
const ENTRY = /^([A-Za-z]+) = (.*)$/;

/**
 * True when every line of a repository's `config` is one that git itself writes there, or stood in the same
 * section `before`. Lines are compared, not what git makes of them: any other form counts as something else.
 */
export function isWrittenByGit(text: string, before = ""): boolean {
  const known = new Set(linesOf(before).map(({ section, line }) => `${section}\n${line}`));
  return linesOf(text).every(({ section, line }) => {
    if (line === "" || known.has(`${section}\n${line}`)) return true;
    const kind = HEADER.exec(section)?.[1]?.split(" ")[0];
    if (kind === undefined || line === section) return kind !== undefined;
    const [, key = "", value = ""] = ENTRY.exec(line) ?? [];
    return SECTIONS[kind]?.[key.toLowerCase()]?.test(value) === true;
  });
}

/** Each line with the header that it stands below; a header stands below itself. */
function linesOf(text: string): readonly { readonly section: string; readonly line: string }[] {
  let section = "";
  return text.split("\n").map((each) => {
    const line = each.trim();
    if (line.startsWith("[")) section = line;
    return { section, line };
  });
}
