/** Whether a format of `git log` and its like only prints fields of commits: none that runs gpg (`%G?`) or is not known. */
export function isPlainLogFormat(format: string): boolean {
  return !format.includes("%") || LOG.test(format);
}

/** Whether a format of `git branch`, `git tag` or `git for-each-ref` only prints fields of references. */
export function isPlainRefFormat(format: string): boolean {
  return !format.includes("%") || REF.test(format);
}

const LOG =
  /^(?:[^%]|%[-+ ]?(?:[%nmHTPhtpdDeBbsfNS]|[ac][nNeElLdDrtiIsh]|g[DdnNeEsS]|x[\da-fA-F]{2}|C(?:red|green|blue|reset|\([\w ,#-]*\))|w\([\d, ]*\)|[<>]{1,2}\|?\([\d, a-z-]*\)|\((?:decorate|trailers)(?::[\w=, -]*)?\)))*$/s;
const REF =
  /^(?:[^%]|%%|%[\da-fA-F]{2}|%\((?:\*?(?:refname|objectname|objecttype|objectsize|deltabase|tree|parent|numparent|object|type|tag|upstream|push|HEAD|subject|body|contents|trailers|creator|creatordate|(?:author|committer|tagger)(?:name|email|date)?|version|symref|worktreepath|color|align|if|then|else|end)(?:[:=][\w =,./~+-]*)?)\))*$/s;
