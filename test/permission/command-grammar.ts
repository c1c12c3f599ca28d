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

const { command } = fc.letrec<{ command: string; simple: string; word: string }>((tie) => ({
  word: fc.oneof(
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        "a",
        "b.txt",
        "-l",
        "'x y'",
        '"q r"',
        "a\\ b",
        "''",
        "*.txt",
        "{a,b}",
        "$HOME",
        '"$x"',
        "$x",
        "${x:-d}",
        "$((1+2))",
        "~",
        "a=b",
        "--",
        "-n",
        "$'a\\tb'",
        "\\;",
        "[ab]",
        "if",
        "done",
        "}",
        "=",
        "!",
        "#",
        "a#b",
      ),
    },
    { weight: 1, arbitrary: tie("command").map((inner) => `$(${inner})`) },
    { weight: 1, arbitrary: tie("command").map((inner) => `"$(${inner})"`) },
    { weight: 1, arbitrary: tie("simple").map((inner) => `\`${inner}\``) },
    { weight: 1, arbitrary: tie("simple").map((inner) => `<(${inner})`) },
    { weight: 1, arbitrary: tie("simple").map((inner) => `\${y:-$(${inner})}`) },
    { weight: 1, arbitrary: tie("simple").map((inner) => `'${inner.replaceAll("'", "")}'`) },
  ),
  simple: fc
    .tuple(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...GOOD) },
        { weight: 1, arbitrary: fc.constantFrom(...BAD, "r''m", "\\rm", "'rm'", "$'\\x72m'") },
      ),
      fc.array(tie("word"), { maxLength: 3 }),
      fc.oneof(
        { weight: 6, arbitrary: fc.constant("") },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            " >/dev/null",
            " 2>&1",
            " > out",
            " >> out",
            " < b.txt",
            " <<< text",
            " <<E\n$(true)\nE\n",
            " &>/dev/null",
            " <<'E'\nrm\nE\n",
          ),
        },
      ),
      fc.oneof(
        { weight: 8, arbitrary: fc.constant("") },
        { weight: 2, arbitrary: fc.constantFrom(...WRAPPED) },
      ),
    )
    .map(([name, words, redirect, wrapper]) => {
      const inner = [name, ...words].join(" ");
      if (wrapper === "bash -c" || wrapper === "sh -c")
        return `${wrapper} '${inner.replaceAll("'", "")}'${redirect}`;
      if (wrapper.startsWith("find")) return `${wrapper} ${inner} \\;${redirect}`;
      return (wrapper === "" ? inner : `${wrapper} ${inner}`) + redirect;
    }),
  command: fc.oneof(
    { depthSize: "small" },
    tie("simple"),
    fc
      .tuple(tie("command"), fc.constantFrom(";", "&&", "||", "|", "\n", " & "), tie("simple"))
      .map((parts) => parts.join(" ")),
    tie("command").map((inner) => `(${inner}\n)`),
    tie("command").map((inner) => `{ ${inner}\n}`),
    fc.tuple(tie("command"), tie("command")).map(([test, body]) => `if ${test}\nthen ${body}\nfi`),
    fc.tuple(tie("word"), tie("command")).map(([word, body]) => `for x in ${word}; do ${body}\ndone`),
    fc
      .tuple(tie("word"), tie("command"))
      .map(([word, body]) => `case ${word} in a|b) ${body}\n;; *) true;; esac`),
    tie("simple").map((inner) => `! ${inner}`),
  ),
}));

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
