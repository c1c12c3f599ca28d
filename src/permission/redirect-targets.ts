import { isMachinery } from "./paths/path-space.ts";
import type { KnownVariables, ShellRedirect, ShellWord } from "./shell/shell-command.ts";
import { shown } from "./verdict.ts";

/** True when a redirection writes nothing, and opens nothing but a file. */
export function isHarmless({ target, writes }: ShellRedirect, variables: KnownVariables): boolean {
  if (target.literal && target.text === "/dev/null") return true;
  return !writes && !mayConnect(target, variables);
}

/** Why a redirection that is not harmless is asked about. */
export function redirectReason({ target, writes }: ShellRedirect): string {
  if (!writes) return "it opens a network connection, or could";
  return isMachinery(target.text)
    ? "it writes to the machinery of a repository or of nano-agent"
    : `the shell would write to ${shown(target.text)}`;
}

const DEVICE = "/dev/";

/** True when the shell may take a path, as it stands or with what the line puts in, for `/dev/tcp/…`. */
function mayConnect(target: ShellWord, variables: KnownVariables): boolean {
  const { text, resolved, literal, names, substitutions } = target;
  if (/\/dev\/(?:tcp|udp)\b/.test(text) || /\/dev\/(?:tcp|udp)\b/.test(resolved)) return true;
  if (literal || names.includes("/dev/fd")) return false;
  const begin = text.split(/[$`*?[{]/, 1)[0] ?? "";
  if (begin !== "") return begin.startsWith(DEVICE) || DEVICE.startsWith(begin);
  return substitutions.length > 0 || names.some((name) => variables.has(name) || !/^\w+$/.test(name));
}
