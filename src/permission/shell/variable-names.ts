/** True when a variable decides which programs run, or what programs do. */
export function isRiskyVariable(name: string): boolean {
  return RISKY.test(name);
}

/** True when no program looks at a variable of this name: a loop may set it without a rule. */
export function isOrdinaryVariable(name: string): boolean {
  return ORDINARY.test(name) || ORDINARY_CAPITALS.has(name);
}

const RISKY =
  /^(?:PATH|IFS|ENV|HOME|SHELL|CDPATH|GLOBIGNORE|PS\d|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|.*_PAGER|BASH.*|LD_.*|DYLD_.*|GIT_.*|PYTHON.*|PERL.*|RUBY.*|NODE_.*|LESS.*|.*OPTIONS|.*OPTS|.*FLAGS|.*_proxy|.*_PROXY)$/;
const ORDINARY = /^(?!(?:https?|ftp|all|no)_proxy$|npm_|_$)[a-z_]*[a-z]\w*$/;
const ORDINARY_CAPITALS = new Set(
  ["FILE", "FILES", "DIR", "LINE", "NAME", "ITEM", "ARG", "PKG", "MODULE", "HOST", "TEST"].concat(
    Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
  ),
);
