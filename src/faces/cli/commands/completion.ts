import { EXIT } from "../../../app/coding-session/exit-code.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { type CommandAction, RUN_OPTIONS } from "../command-spec.ts";
import { COMMANDS } from "../commands.ts";
import { FLAGS } from "../flags.ts";
import type { CommandOption } from "../read-options.ts";

/** `nano-agent completion bash|zsh|fish`: a script made from the tables of commands and options. */
export async function completion({ stdout }: CommandContext, call: CommandCall): Promise<number> {
  const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[call.action];
  stdout.write(script?.() ?? "");
  return EXIT.done;
}

/** The cases of a shell script, one for each place: the words before, and those that may follow. */
function casesOf(assign: (words: string) => string): string {
  const caseOf = (after: string, next: readonly { readonly name: string }[]): string =>
    `    '${after}') ${assign(next.map(({ name }) => name).join(" "))} ;;`;
  const lines = [caseOf("", [...COMMANDS, ...FLAGS])];
  for (const { name, actions } of COMMANDS) {
    const named = actions.flatMap((action) =>
      action.name === undefined ? [] : { ...action, name: action.name },
    );
    lines.push(caseOf(name, [...named, ...optionsOf(actions[0])]));
    for (const action of named) lines.push(caseOf(`${name} ${action.name}`, optionsOf(action)));
  }
  return lines.join("\n");
}

function optionsOf({ options, runOptions }: CommandAction): readonly { readonly name: string }[] {
  return [...options, ...(runOptions === true ? RUN_OPTIONS : []), { name: "--help" }];
}

function bashScript(): string {
  const cases = casesOf((words) => `words='${words}'`);
  return `_nano_agent() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words='' place='' index
  for ((index = 1; index < COMP_CWORD && index < 3; index++)); do
    case "\${COMP_WORDS[index]}" in -*) break ;; esac
    place="\${place:+$place }\${COMP_WORDS[index]}"
  done
  case "$place" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _nano_agent nano-agent
`;
}

function zshScript(): string {
  const cases = casesOf((words) => `options=(${words})`);
  return `#compdef nano-agent
_nano_agent() {
  local -a options
  local place='' index
  for ((index = 2; index < CURRENT && index < 4; index++)); do
    case "$words[index]" in -*) break ;; esac
    place="\${place:+$place }$words[index]"
  done
  case "$place" in
${cases}
  esac
  compadd -- $options
  _files
}
compdef _nano_agent nano-agent
`;
}

function fishScript(): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const line = (condition: string, rest: string): string =>
    `complete -c nano-agent -n ${quoted(condition)} ${rest}`;
  const fishOption = ({ name, value = "[", help }: CommandOption): string =>
    `-l ${name.slice(2)}${value.startsWith("[") ? "" : " -r"} -d ${quoted(help)}`;
  const top = [
    ...COMMANDS.map(({ name, help }) => line("__fish_use_subcommand", `-f -a ${name} -d ${quoted(help)}`)),
    ...FLAGS.map((flag) => line("__fish_use_subcommand", fishOption(flag))),
  ];
  const below = COMMANDS.flatMap(({ name, actions }) =>
    actions.flatMap((action) => {
      const seen = `__fish_seen_subcommand_from ${name}`;
      const own =
        action.name === undefined ? seen : `${seen}; and __fish_seen_subcommand_from ${action.name}`;
      return [
        ...(action.name === undefined ? [] : [line(seen, `-f -a ${action.name} -d ${quoted(action.help)}`)]),
        ...action.options.map((option) => line(own, fishOption(option))),
      ];
    }),
  );
  return `${[...top, ...below].join("\n")}\n`;
}
