import { readdirSync, readFileSync } from "node:fs";

/** The flag of a descriptor that a new program does not inherit, in the octal form of proc_pid_fdinfo(5). */
const CLOSES_ON_EXEC = 0o2000000;

/** Descriptors above the usual three that whoever started this process left open for its children. */
export function leakedDescriptors(): readonly number[] {
  return readdirSync("/proc/self/fdinfo").flatMap((name) => {
    try {
      const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${name}`, "utf8"))?.[1];
      const isInherited = flags !== undefined && (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0;
      return isInherited && Number(name) > 2 ? [Number(name)] : [];
    } catch {
      // That of the listing itself, closed by now.
      return [];
    }
  });
}
