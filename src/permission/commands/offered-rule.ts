import { wordSet } from "../match-text.ts";
import { coversCommand } from "./harmful-options.ts";
import type { PlainCommand } from "./plain-line.ts";

/** Programs whose first argument says what they do: a rule for it may leave the rest open. */
const WITH_SUB_COMMANDS = wordSet(`
  apt apt-get brew bun bundle cargo composer deno dnf docker dotnet flutter gem gh git go gradle helm
  kubectl mix mvn nix npm pip pip3 pnpm podman poetry rustup swift systemctl terraform uv yarn`);
/** Sub-commands that hand over to what stands behind them. */
const HANDING_ON = wordSet("run exec compose dlx x");

/**
 * The pattern that a person may be offered for the `open` commands of a plain line: program and sub-command,
 * where one known program covers all of them, else the line itself. None for a line with a star in it, which
 * would stand for any text.
 */
export function offeredPattern(line: string, open: readonly PlainCommand[]): string | undefined {
  const [first] = open;
  const pattern = first === undefined ? undefined : subCommandPattern(first);
  if (pattern !== undefined && open.every((command) => coversCommand(pattern, command))) return pattern;
  return line.includes("*") ? undefined : line;
}

function subCommandPattern({ words }: PlainCommand): string | undefined {
  const [program = "", sub = "", next = ""] = words.map(({ text }) => text);
  const named = HANDING_ON.has(sub) ? [sub, next] : [sub];
  const isKnown = WITH_SUB_COMMANDS.has(program) && named.every((word) => SUB_COMMAND.test(word));
  return isKnown ? `${program} ${named.join(" ")}*` : undefined;
}

const SUB_COMMAND = /^[A-Za-z0-9@][\w@:./-]*$/;
