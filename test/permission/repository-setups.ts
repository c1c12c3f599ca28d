export const FILTER: string = `printf '[filter "x"]\\n\\tclean = %s\\n' "$EVIL" >>`;
/** A driver for differences, which `f.t` has. */
export const DRIVER: string = `echo '*.t diff=d' > .gitattributes; git config diff.d.textconv "$EVIL"; git add .; git commit -qm d; echo c > f.t`;
export const COMMITS: string = `git checkout -qf -b b; echo 1 > g; git add g; git commit -qm g; git checkout -q main; echo 2 > h; git add h; git commit -qm h`;

/**
 * An index that has no repository in it for whoever takes its hashes for longer ones, because of a long name
 * in front.
 */
export const HIDING: string = `cp -r . ../sub; mv ../sub .; git add sub; x=$(printf 'a%.0s' $(seq 200)); git update-index --add --cacheinfo 100644,$(git hash-object -w f.t),$x/$x/$x/$x/$x; git rm -q --cached f.t .gitattributes; ${FILTER} sub/.git/config;`;
/**
 * A repository that only commits name, whose settings have a program show differences; \`git diff\` is to
 * show what is in it.
 */
export const IN_COMMITS: string = `cp -r . ../sub; git checkout -qf; mv ../sub .; git add sub; git commit -qm 1; git -C sub commit -qam y; git add sub; git commit -qm 2; git rm -q --cached sub; git commit -qm 3; git -C sub config diff.external "$EVIL"`;

/** A repository that only commits name, and that misses something: git fetches that by the settings there. */
export const MISSING: string = `git checkout -qf; git init -q sub; cd sub; echo 1 > z; git add z; git commit -qm 1; cd ..; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url x; git config submodule.sub.active true; git add sub .gitmodules; git commit -qm s; git rm -q --cached sub; git commit -qm g; cd sub; rm -r .git/objects/??; git config extensions.partialclone o; git config core.repositoryformatversion 1; git config remote.o.url ssh://x/y; git config remote.o.promisor true; git config core.sshCommand "$EVIL"`;
/** A repository that only the branch `b` names, whose settings have a program clean what is checked out. */
export const IN_BRANCH: string = `git checkout -qf; git init -qb main sub; cd sub; echo 1 > z; git add z; git commit -qm 1; cd ..; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.url x; git config submodule.sub.active true; git add sub .gitmodules; git commit -qm s; git branch b; git rm -q --cached sub; git commit -qm g; echo 'z filter=x' > sub/.git/info/attributes; printf '[filter "x"]\\n\\tsmudge = %s\\n' "$EVIL" >> sub/.git/config; rm sub/z`;

/**
 * A repository that only the branch `b` names, whose settings clean what changed there. The one around has a
 * change to put back, an alias, and a search that began on that branch.
 */
export const BELOW: string = `cp -r . ../sub; mv ../sub .; git -C sub commit -qam s; git config -f .gitmodules submodule.sub.path sub; git config -f .gitmodules submodule.sub.ignore none; git checkout -qf; git checkout -qb b; git add .; git commit -qm s; git checkout -q main; git config --global alias.co checkout; git config rebase.autoStash true; git config merge.autoStash true; git config --global core.checkStat minimal; git commit -q --allow-empty -m 1; git commit -q --allow-empty -m 2; git bisect start HEAD HEAD~2 > /dev/null; echo b > .git/BISECT_START; git checkout -q main; ${FILTER} sub/.git/config; echo c > sub/f.t; echo c > f.t`;

/** A submodule, the next commit of which names a repository in it, whose settings clean what changed. */
export const IN_SUBMODULE: string = `register() { git config -f .gitmodules submodule.$1.path $1; git config -f .gitmodules submodule.$1.url x; git config submodule.$1.url x; git config submodule.$1.active true; git add .gitmodules $1; git commit -qm $1; }; git checkout -qf; cp -r . ../sub; cp -r . ../in; mv ../sub .; mv ../in sub; cd sub; register in; cd ..; register sub; mv sub/in ..; git -C sub checkout -qf HEAD~1; rm -rf sub/in; mv ../in sub; git -C sub/in commit -q --allow-empty -m e; ${FILTER} sub/in/.git/config; echo c > sub/in/f.t`;

/** A sparse index without the folder `b`, and in that a repository whose settings clean what changed. */
export const SPARSE: string = `git checkout -qf; mkdir a b; echo 1 > a/x; git init -qb main b/sub; cd b/sub; echo 'z filter=x' > .gitattributes; echo 1 > z; git add .; git commit -qm s; cd ../..; git add .; git commit -qm s; mv b/sub ..; git sparse-checkout set --cone --sparse-index a; ${FILTER} ../sub/.git/config; echo 2 > ../sub/z; mkdir b; mv ../sub b`;
