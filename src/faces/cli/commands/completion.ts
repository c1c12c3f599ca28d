import { EXIT } from "../../../view/exit-code.ts";
import type { CommandCall } from "../command-call.ts";
import { COMMANDS } from "../commands.ts";
import { type CommandAction, type CommandOption, FLAGS, RUN_OPTIONS } from "../read-options.ts";

/** `nano-agent completion bash|zsh|fish`: a script generated from the tables of commands and options. */
export async function completion({ stdout, ...call }: CommandCall): Promise<number> {
  const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[call.action];
  stdout.write(script?.() ?? "");
  return EXIT.done;
}

interface CompletionContext {
  readonly after: string;
  readonly words: readonly { readonly name: string }[];
  readonly options: readonly CommandOption[];
}

function completionContexts(): readonly CompletionContext[] {
  const below = COMMANDS.flatMap(({ name, actions }) => {
    const named = actions.flatMap((action) =>
      action.name === undefined ? [] : { ...action, name: action.name },
    );
    return [
      { after: name, words: named, options: optionsOf(actions[0]) },
      ...named.map((action) => ({
        after: `${name} ${action.name}`,
        words: [],
        options: optionsOf(action),
      })),
    ];
  });
  return [{ after: "", words: COMMANDS, options: FLAGS }, ...below];
}

function optionsOf({ options, runOptions }: CommandAction): readonly CommandOption[] {
  const help = FLAGS.filter(({ name }) => name === "--help");
  return [...options, ...(runOptions === true ? RUN_OPTIONS : []), ...help];
}

function casesOf(assign: (words: string) => string): string {
  const lines = completionContexts().map(({ after, words, options }) => {
    const names = [...words, ...options].map(({ name }) => name);
    return `    '${after}') ${assign(names.join(" "))} ;;`;
  });
  return lines.join("\n");
}

/** The cases of a shell script for values: one per option with choices, after its place. */
function valueCasesOf(assign: (words: string) => string): string {
  const lines = completionContexts().flatMap(({ after, options }) =>
    options.flatMap(({ name, choices }) =>
      choices === undefined ? [] : `    '${after} ${name}') ${assign(choices.join(" "))} ;;`,
    ),
  );
  return lines.join("\n");
}

function bashScript(): string {
  const assign = (words: string): string => `words='${words}'`;
  return `_nano_agent() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words='' place='' index
  for ((index = 1; index < COMP_CWORD && index < 3; index++)); do
    case "\${COMP_WORDS[index]}" in -*) break ;; esac
    place="\${place:+$place }\${COMP_WORDS[index]}"
  done
  case "$place" in
${casesOf(assign)}
  esac
  case "$place \${COMP_WORDS[COMP_CWORD - 1]}" in
${valueCasesOf(assign)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _nano_agent nano-agent
`;
}

function zshScript(): string {
  return `#compdef nano-agent
autoload -U +X bashcompinit && bashcompinit
${bashScript()}`;
}

function fishScript(): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const line = (condition: string, rest: string): string =>
    `complete -c nano-agent -n ${quoted(condition)} ${rest}`;
  const valueOf = ({ value = "[", choices }: CommandOption): string => {
    if (choices !== undefined) return ` -x -a ${quoted(choices.join(" "))}`;
    return value.startsWith("[") ? "" : " -r";
  };
  const fishOption = (option: CommandOption): string =>
    `-l ${option.name.slice(2)}${valueOf(option)} -d ${quoted(option.help)}`;
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
        ...optionsOf(action).map((option) => line(own, fishOption(option))),
      ];
    }),
  );
  return `${[...top, ...below].join("\n")}\n`;
}
