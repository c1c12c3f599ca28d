import { wordSet } from "../match-text.ts";
import { commandText, type PlainCommand } from "./plain-line.ts";

/** Programs whose first argument says what they do: a rule for it may leave the rest open. */
const WITH_SUB_COMMANDS = wordSet(`
  apt apt-get brew bun bundle bunx cargo composer deno dnf docker dotnet flutter gem gh git go gradle helm
  kubectl mix mvn nix npm npx pip pip3 pipx pnpm podman poetry rustup swift systemctl terraform uv
  uvx yarn`);
/** Sub-commands that hand over to what stands behind them. */
const HANDING_ON = wordSet("run exec compose dlx x");

/**
 * The patterns that a person may be offered for a simple command, the best first: program and sub-command
 * with anything behind them for known programs, and the command itself where its text shows all of it.
 */
export function offeredPatterns(command: PlainCommand): readonly string[] {
  const [program = "", sub = "", next = ""] = command.words.map(({ text }) => text);
  // A star stands for any text, and a blank does not show where a word ends.
  const isExact = command.words.every(({ text }) => text !== "" && !/[*\s]/.test(text));
  const exact = isExact ? [commandText(command)] : [];
  if (!WITH_SUB_COMMANDS.has(program) || !SUB_COMMAND.test(sub)) return exact;
  if (!HANDING_ON.has(sub)) return [`${program} ${sub}*`, ...exact];
  return SUB_COMMAND.test(next) ? [`${program} ${sub} ${next}*`, ...exact] : exact;
}

const SUB_COMMAND = /^[A-Za-z0-9@][\w@:./-]*$/;
