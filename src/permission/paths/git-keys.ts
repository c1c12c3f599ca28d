import { wordSet } from "../match-text.ts";
import { isPlainLogFormat, PLAIN_KEY, STRATEGIES } from "../shell/git-guards.ts";
import type { GitSetting } from "./git-settings.ts";

/**
 * Whom a setting of a repository counts for: `looking` for whoever only looks, `drivers` where differences
 * are shown, `others` for commands that change something or speak with others. `undefined` for one that runs
 * nothing.
 */
export type GitSettingUse = "looking" | "drivers" | "others" | undefined;

/** Sections whose settings, in a covered command, only change how git looks or what it does by default. */
const PLAIN_SECTIONS = wordSet(`
  add advice am apply author checkout clean clone color column commit committer commitgraph feature fetch fsck
  fsmonitor grep i18n index log mailmap maintenance notes pack pager push rerere receive revert sendemail
  showbranch sparse splitindex stash status svn svn-remote tag transfer user versionsort worktree
  gerrit gitbutler gitflow github gitk gitreview gitweb gui hooks hub tgit bugtraq`);

/** Settings of other sections that do no more; a star is any name in the middle. */
const PLAIN_KEYS = wordSet(`
  blame.blankboundary blame.coloring blame.date blame.markignoredlines blame.showemail
  core.bare core.bigfilethreshold core.checkstat core.commentchar core.commitgraph
  core.compression core.createobject core.deltabasecachelimit core.fscache core.fsmonitor
  core.fsync core.fsyncmethod core.fsyncobjectfiles core.hidedotfiles core.hookspath core.ignorestat core.logallrefupdates
  core.loosecompression core.multipackindex core.notesref core.packedgitlimit core.packedgitwindowsize core.pager core.preloadindex core.protecthfs
  core.protectntfs core.repositoryformatversion core.sharedrepository core.sparsecheckout
  core.sparsecheckoutcone core.splitindex core.trustctime core.untrackedcache core.warnambiguousrefs
  credential.username credential.usehttppath credential.validate credential.*.provider credential.*.username
  credential.*.usehttppath
  diff.*.binary diff.*.cachetextconv diff.*.funcname diff.*.wordregex diff.*.xfuncname
  extensions.noop extensions.objectformat extensions.partialclone extensions.preciousobjects
  extensions.refstorage extensions.relativeworktrees extensions.worktreeconfig
  filter.*.required format.pretty format.signoff
  gc.auto gc.autodetach gc.autopacklimit gc.pruneexpire gc.reflogexpire gc.reflogexpireunreachable gc.worktreepruneexpire
  gpg.format gpg.mintrustlevel gpg.*.allowedsignersfile gpg.*.revocationfile
  http.extraheader http.followredirects http.lowspeedlimit http.lowspeedtime http.postbuffer http.useragent
  http.version http.*.extraheader
  interactive.singlekey
  lfs.allowincompletepush lfs.concurrenttransfers lfs.fetchexclude lfs.fetchinclude lfs.locksverify lfs.pushurl
  lfs.repositoryformatversion lfs.skipdownloaderrors lfs.url lfs.*.access lfs.*.locksverify
  merge.*.name merge.*.recursive
  rebase.abbreviatecommands rebase.backend rebase.forkpoint rebase.missingcommitscheck rebase.rebasemerges
  rebase.reschedulefailedexec rebase.stat
  remote.pushdefault remote.*.fetch remote.*.followremotehead remote.*.gh-resolved remote.*.github-pr-remote remote.*.mirror
  remote.*.partialclonefilter remote.*.promisor remote.*.prune remote.*.prunetags remote.*.push
  remote.*.pushurl remote.*.skipdefaultupdate remote.*.skipfetchall remote.*.tagopt remote.*.url
  submodule.active submodule.alternateerrorstrategy submodule.alternatelocation submodule.fetchjobs
  submodule.propagatebranches submodule.recurse submodule.*.active submodule.*.branch
  submodule.*.fetchrecursesubmodules submodule.*.ignore submodule.*.path submodule.*.shallow submodule.*.url`);

/** Stands for a line of the steps that a rebase still has to take. */
export const REBASE_STEP = "rebase.step";
/** Stands for the way of merging that a rebase or a pick goes on with. */
export const MERGE_STRATEGY = "options.strategy";
/** A step that runs no command. */
const PLAIN_STEP =
  /^\s*(?:#|(?:pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|label|l|reset|t|merge|m|noop|break|b|update-ref|u)(?:\s|$))/;

const DRIVERS = /^diff\.(?:external|.*\.(?:textconv|command))$/s;
/**
 * Runs a program or sends passwords another way, but not for who only looks. Hooks, pagers and file watchers
 * never run for a covered command.
 */
const OTHERS =
  /^(?:alias\..*|merge\..*\.driver|core\.(?:sshcommand|gitproxy|askpass|editor)|sequence\.editor|sendemail\.(?:.*\.)?(?:smtpserver|[a-z]+cmd)|credential\.(?:.*\.)?helper|remote\..*\.(?:uploadpack|receivepack|vcs)|interactive\.difffilter|(?:difftool|mergetool|guitool)\..*|submodule\..*\.update|protocol\..*|url\..*\.(?:push)?insteadof|rebase\.instructionformat|http\.(?:.*\.)?(?:proxy|sslverify)|svn(?:-remote)?\.(?:.*\.)?[a-z]+prog|(?:tar|imap)\..*)$/s;
/** Branches have names of settings from everywhere; this one is options for `git merge`. */
const BRANCH = /^branch\..*\.(?!mergeoptions$)[a-z0-9-]+$/s;
/** Settings of the sections `diff` and `merge` itself. */
const PLAIN_DIFF = /^(?:diff\.(?!external$)|merge\.)[a-z]+$/;
/** Settings that git-lfs writes itself, which run nothing of the repository. */
const LFS =
  /^filter\.lfs\.(?:clean=git-lfs clean -- %f|smudge=git-lfs smudge(?: --skip)? -- %f|process=git-lfs filter-process(?: --skip)?)$/;
/** A clone without all its objects: looking at a missing one fetches it, with the programs for that. */
const PARTIAL = /^(?:remote\..*\.(?:promisor|partialclonefilter)|extensions\.partialclone)$/s;

/** Settings that name a file or folder whose content git may show. */
export const NAMES_PLACE: RegExp =
  /^(?:core\.(?:worktree|attributesfile|excludesfile)|blame\.ignorerevsfile|mailmap\.file|(?:(?:fetch|receive)\.)?fsck\.skiplist)$/;

/** Whom a setting counts for. An unknown one counts for everybody: git may now run what it names. */
export function useOf(setting: GitSetting): GitSettingUse {
  const { key, value } = setting;
  if (LFS.test(`${key}=${value}`)) return undefined;
  // A format with a name is used by that name, in which nobody sees what it runs.
  if (/^pretty\.[^.]+$/.test(key)) return isPlainLogFormat(value) ? undefined : "looking";
  if (key === REBASE_STEP) return PLAIN_STEP.test(value) ? undefined : "others";
  if (key === MERGE_STRATEGY) return STRATEGIES.has(value) ? undefined : "others";
  if (OTHERS.test(key)) return "others";
  if (DRIVERS.test(key)) return "drivers";
  if (NAMES_PLACE.test(key) || !isPlain(key)) return "looking";
  // An address of this form names the program that speaks with it; quotes may stand anywhere in it.
  return value.replaceAll(/["\\]/g, "").includes("::") ? "others" : undefined;
}

/** True when a setting says that objects are missing. */
export function isPartialClone({ key }: GitSetting): boolean {
  return PARTIAL.test(key);
}

function isPlain(key: string): boolean {
  const section = key.slice(0, key.indexOf("."));
  const name = key.slice(key.lastIndexOf(".") + 1);
  const known = key === `${section}.${name}` ? key : `${section}.*.${name}`;
  if (PLAIN_SECTIONS.has(section) || PLAIN_KEYS.has(known)) return true;
  return PLAIN_DIFF.test(key) || BRANCH.test(key) || PLAIN_KEY.test(key);
}
