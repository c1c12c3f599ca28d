/** Words of find that neither run nor write anything; with a `=` behind, the next word is their value. */
export const FIND_TESTS =
  "-name= -iname= -path= -ipath= -wholename= -iwholename= -lname= -ilname= -regex= -iregex= -regextype= -type= -xtype= -size= -empty -mtime= -mmin= -atime= -amin= -ctime= -cmin= -used= -newer= -anewer= -cnewer= -newermt= -newerct= -newerat= -samefile= -inum= -links= -fstype= -maxdepth= -mindepth= -perm= -user= -group= -uid= -gid= -readable -writable -executable -print -print0 -printf= -ls -prune -quit -not -a -and -o -or -depth -d -mount -xdev -daystart -true -false -nouser -nogroup -noleaf -warn -nowarn -ignore_readdir_race -noignore_readdir_race -H -P -O1 -O2 -O3 ! ( ) ,";

/** Those of {@link FIND_TESTS} whose value is a path. */
export const FIND_PATHS: ReadonlySet<string> = new Set(["-newer", "-anewer", "-cnewer", "-samefile"]);

/** More words that an allow rule for find covers: following links, and rarer tests. */
export const FIND_MORE =
  "-L -follow -D= -files0-from= -context= -newerBt= -newerBB= -newerBm= -neweraa= -newermm= -newercc= -help -version --help --version";
