import { foldersAround, type SandboxFolders, type SandboxLimits, type Wall } from "./sandbox-limits.ts";
import { steeringOfGit, steeringOfRepository, steeringOfRoot } from "./steering-guard.ts";

/** Refuses by name, so it also prevents paths that do not exist yet. */
export function seatbeltWall(
  limits: SandboxLimits,
  folders: SandboxFolders,
  [bash = ""]: readonly string[],
): Wall {
  const start: Wall["start"] = ({ command, cwd, network, readOnly }) => {
    const { workspace: roots, writable, gitFolders, unreadable, loopback } = limits;
    const { temporary, cache } = folders;
    const steering = roots.flatMap((root) => [
      ...steeringOfRoot(root).filter((path) => !path.endsWith("/HEAD")),
      // The folder itself changes with every commit.
      ...steeringOfRepository(root, writable).slice(1),
    ]);
    const profile = seatbeltProfile({
      // Here-documents and most programs fail without a writable temporary folder.
      writable: readOnly ? [temporary] : [...writable, temporary, cache],
      protected: [...limits.protected, folders.wall, ...steering, ...gitFolders.flatMap(steeringOfGit)],
      unreadable,
      roots,
      network,
      loopback,
    });
    return {
      file: "/usr/bin/sandbox-exec",
      args: ["-p", profile, bash, "-c", command],
      cwd,
      descriptors: [],
      begin: async () => undefined,
      ended: async () => undefined,
    };
  };
  return { start, close: () => undefined };
}

export interface ProfileRequest
  extends Pick<SandboxLimits, "writable" | "protected" | "unreadable" | "loopback"> {
  readonly roots: readonly string[];
  readonly network: boolean;
}

/** Programs run and see themselves, and nothing else of the system; no terminal, no keychain, no Finder. */
const BASE = `(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(allow mach-host*)
(allow ipc-posix-sem)
(allow ipc-posix-shm)
(allow user-preference-read)
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.logger"))
(allow file-ioctl (literal "/dev/null"))
(allow file-read*)
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/stdout") (literal "/dev/stderr"))
(allow file-write* (subpath "/dev/fd"))`;

/** Resolving names and checking certificates require system services. */
const NETWORK = `(allow network-outbound (remote ip))
(allow network-inbound (local ip))
(allow network-bind (local ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.trustd") (global-name "com.apple.trustd.agent") (global-name "com.apple.networkd"))`;

/** The remote end decides: a rule about the local one lets all traffic through. */
const LOOPBACK = `(allow network-outbound (remote ip "localhost:*"))
(allow network-bind (local ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))`;

/** A profile in the language of `sandbox-exec`, in which the last matching rule counts. */
export function seatbeltProfile(request: ProfileRequest): string {
  const { writable, unreadable, roots, network, loopback } = request;
  const protectedPaths = request.protected;
  return [
    BASE,
    rule("allow file-write*", writable.map(filter("subpath"))),
    rule("deny file-write*", [...protectedPaths.map(filter("subpath")), ...roots.flatMap(steeringPatterns)]),
    // Moving a folder around them would take the names away from the rules.
    rule(
      "deny file-write-unlink",
      [...new Set(protectedPaths.flatMap((path) => foldersAround(path, writable)))].map(filter("literal")),
    ),
    rule("deny file-read* file-write*", unreadable.map(filter("subpath"))),
    ...(network ? [NETWORK] : []),
    ...(loopback && !network ? [LOOPBACK] : []),
  ]
    .filter((text) => text !== "")
    .join("\n");
}

function rule(action: string, filters: readonly string[]): string {
  return filters.length === 0 ? "" : `(${action} ${filters.join(" ")})`;
}

function steeringPatterns(root: string): readonly string[] {
  const below = `^${root.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}/(.*/)?\\.git/(.*/)?`;
  return [`${below}(config|config\\.worktree|commondir)$`, `${below}hooks(/.*)?$`].map(
    // No escapes work in there, so a quote in a name is any character.
    (pattern) => `(regex #"${pattern.replaceAll('"', ".")}")`,
  );
}

function filter(kind: "subpath" | "literal"): (path: string) => string {
  return (path) => `(${kind} "${path.replace(/["\\]/g, "\\$&")}")`;
}
