import { readFileSync } from "node:fs";

/** A reason why there is no sandbox, and what the person can do. */
interface Cause {
  readonly says: RegExp;
  readonly why: string;
  readonly todo: string;
  /** Holds only where this is so too. */
  readonly when?: () => boolean;
}

const APPARMOR = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

const CAUSES: readonly Cause[] = [
  {
    says: /uid map: Read-only file system/,
    why: "this runs in a sandbox already",
    todo: "nothing is needed",
  },
  {
    says: /uid map|RTM_NEWADDR/,
    when: () => textOf(APPARMOR) === "1",
    why: "AppArmor takes all power from user namespaces",
    todo: "allow them for bubblewrap alone with an AppArmor profile for it (Ubuntu: the package apparmor-profiles has bwrap-userns-restrict)",
  },
  {
    says: /RTM_NEWADDR/,
    why: "this kernel makes no network namespaces",
    todo: "run it in a container of its own and choose --yolo there",
  },
  {
    says: /No permissions to create new namespace|Creating new namespace failed: Operation not permitted/,
    why: "user namespaces are forbidden here (a container, or kernel.unprivileged_userns_clone=0)",
    todo: "in a container choose --yolo, for it is the wall, or start it with --security-opt seccomp=unconfined; elsewhere sysctl kernel.unprivileged_userns_clone=1",
  },
  {
    says: /namespaces exceeded|ENOSPC/,
    why: "user.max_user_namespaces allows no more",
    todo: "sysctl user.max_user_namespaces=15000",
  },
  {
    says: /mount proc/,
    why: "/proc is partly covered here",
    todo: "in a container start it with --security-opt systempaths=unconfined, in a systemd unit without ProtectKernelTunables",
  },
  {
    says: /Invalid argument/,
    when: () => /Microsoft(?!.*WSL2)/.test(textOf("/proc/version")),
    why: "WSL 1 has no namespaces",
    todo: "wsl --set-version NAME 2",
  },
];

const PACKAGES: { readonly [program: string]: string } = { bwrap: "bubblewrap", nsenter: "util-linux" };

/** The one line that says so, from what bubblewrap or our own trial said. */
export function noSandbox(problem: string): string {
  const cause = CAUSES.find(({ says, when }) => says.test(problem) && when?.() !== false);
  const said = problem.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
  return whyNone(cause?.why ?? said, cause?.todo ?? "nano-agent doctor tries it again");
}

/** The same for programs that are not there. */
export function missingPrograms(names: readonly string[]): string {
  const packages = [...new Set(names.map((name) => PACKAGES[name] ?? name))].join(" ");
  const installs = `apt-get install ${packages}, dnf install ${packages} or apk add ${packages}`;
  return whyNone(`${names.join(" and ")} not found`, installs);
}

/** `no sandbox (WHY): WHAT TO DO; commands ask`. */
export function whyNone(why: string, todo: string): string {
  return `no sandbox (${why}): ${todo}; commands ask`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not on this system.
    return "";
  }
}
