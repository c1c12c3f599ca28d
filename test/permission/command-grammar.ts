import fc from "fast-check";

/** Programs the rules of a trial allow, and some they do not. */
export const GOOD: readonly string[] = ["ls", "cat", "echo", "true", "grep"];
export const BAD: readonly string[] = ["rm", "curl", "git"];

const WRAPPED = [
  "env",
  "timeout 5",
  "nice -n 1",
  "nohup",
  "xargs",
  "command",
  "exec",
  "bash -c",
  "sh -c",
  "eval",
  "time",
  "setsid -w",
  "find . -maxdepth 0 -exec",
];
const MARKS = [
  '"',
  "'",
  "`",
  "$",
  "(",
  ")",
  "{",
  "}",
  "<",
  ">",
  "|",
  "&",
  ";",
  "\n",
  "\\",
  " ",
  "#",
  "*",
  "!",
  "=",
  "$(",
  "<(",
  "<<E\n",
  "\nE\n",
  "&&",
  "||",
  ">&",
  "[[",
  "]]",
  "~",
  "\t",
];

const WORDS = [
  "a b.txt -l 'x_y' \"q_r\" a\\_b '' *.txt {a,b} $HOME \"$x\" $x ${x:-d} $((1+2)) ~ a=b -- -n $'a\\tb' \\; [ab]",
  "if done } = ! # a#b",
].flatMap((line) => line.split(" ").map((word) => word.replace("_", " ")));

const REDIRECTS = [
  " >/dev/null",
  " 2>&1",
  " > out",
  " >> out",
  " < b.txt",
  " <<< text",
  " <<E\n$(true)\nE\n",
  " &>/dev/null",
  " <<'E'\nrm\nE\n",
];

interface Grammar {
  readonly command: string;
  readonly simple: string;
  readonly word: string;
}

const { command } = fc.letrec((tie: fc.LetrecTypedTie<Grammar>) => ({
  word: words(tie("command"), tie("simple")),
  simple: simpleCommands(tie("word")),
  command: commands(tie("command"), tie("simple"), tie("word")),
}));

function words(command: fc.Arbitrary<string>, simple: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
    { weight: 1, arbitrary: command.map((inner) => `$(${inner})`) },
    { weight: 1, arbitrary: command.map((inner) => `"$(${inner})"`) },
    { weight: 1, arbitrary: simple.map((inner) => `\`${inner}\``) },
    { weight: 1, arbitrary: simple.map((inner) => `<(${inner})`) },
    { weight: 1, arbitrary: simple.map((inner) => `\${y:-$(${inner})}`) },
    { weight: 1, arbitrary: simple.map((inner) => `'${inner.replaceAll("'", "")}'`) },
  );
}

function simpleCommands(word: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...GOOD) },
    { weight: 1, arbitrary: fc.constantFrom(...BAD, "r''m", "\\rm", "'rm'", "$'\\x72m'") },
  );
  const redirect = fc.oneof(
    { weight: 6, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.constantFrom(...REDIRECTS) },
  );
  const wrapper = fc.oneof(
    { weight: 8, arbitrary: fc.constant("") },
    { weight: 2, arbitrary: fc.constantFrom(...WRAPPED) },
  );
  return fc
    .tuple(name, fc.array(word, { maxLength: 3 }), redirect, wrapper)
    .map(([program, args, to, around]) => {
      const inner = [program, ...args].join(" ");
      if (around.endsWith(" -c")) return `${around} '${inner.replaceAll("'", "")}'${to}`;
      if (around.startsWith("find")) return `${around} ${inner} \\;${to}`;
      return (around === "" ? inner : `${around} ${inner}`) + to;
    });
}

function commands(
  command: fc.Arbitrary<string>,
  simple: fc.Arbitrary<string>,
  word: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  const operator = fc.constantFrom(";", "&&", "||", "|", "\n", " & ");
  return fc.oneof(
    { depthSize: "small" },
    simple,
    fc.tuple(command, operator, simple).map((parts) => parts.join(" ")),
    command.map((inner) => `(${inner}\n)`),
    command.map((inner) => `{ ${inner}\n}`),
    fc.tuple(command, command).map(([test, body]) => `if ${test}\nthen ${body}\nfi`),
    fc.tuple(word, command).map(([item, body]) => `for x in ${item}; do ${body}\ndone`),
    fc.tuple(word, command).map(([item, body]) => `case ${item} in a|b) ${body}\n;; *) true;; esac`),
    simple.map((inner) => `! ${inner}`),
  );
}

/** Command lines of every shape, some of them broken by a mark put in at random. */
export const commandLines: fc.Arbitrary<string> = fc.oneof(
  command,
  fc
    .tuple(
      command,
      fc.array(fc.tuple(fc.nat(200), fc.constantFrom(...MARKS)), { minLength: 1, maxLength: 3 }),
    )
    .map(([line, marks]) => {
      let text = line;
      for (const [at, mark] of marks)
        text = text.slice(0, at % (text.length + 1)) + mark + text.slice(at % (text.length + 1));
      return text;
    }),
);
