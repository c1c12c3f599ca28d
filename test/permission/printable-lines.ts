import fc from "fast-check";

/** Characters that mean something to one reader or another. */
const CHARS = " \t\n'\"\\$`{}()[]<>|&;#~*?!=:,.-+%@^/ab1é".split("");

const pieces = (from: readonly string[], maxLength = 6): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...from), { maxLength }).map((chars) => chars.join(""));
const texts = pieces(CHARS);
const without = (chars: string): readonly string[] => CHARS.filter((char) => !chars.includes(char));

const NAMES = [
  "prog",
  "echo",
  "two",
  "printf",
  ":",
  "grep",
  "[",
  "cat",
  "true",
  "false",
  "cd",
  "read",
  "type",
];
const BARE = [
  "a",
  "-n",
  "b.txt",
  "./a",
  "a/b",
  "x=1",
  "--opt=v",
  "HEAD~1",
  "{}",
  "a^",
  "1",
  "in",
  "do",
  "*",
  "*.txt",
  "?",
  "[ab]",
  "s[u]b/*",
];
const BRACES = [
  "{a,b}",
  "{1..3}",
  "{c..a}",
  "x{,y}z",
  "{01..3}",
  ".{e..e}nv",
  "{,x}~/y",
  "{a,b}*",
  "{a,{b,c}}",
  "{1..9..4}",
  "{-1..1}",
  "{a..}",
  "{~,b}/c",
];
const EXPANSIONS = [
  "$x",
  "$1",
  "${2}",
  "$@",
  "$*",
  "$#",
  "$?",
  "${x:-d e}",
  "${1%e}",
  "${2#* }",
  "${1:+y}",
  "${#2}",
  "${2/o/0}",
  "${2:1:2}",
  "${1^}",
  "$((1 + 2*3))",
  "$(( x ? 1 : 2 ))",
  "~",
  "~/q",
  "${x-}",
  "$'a\\tb'",
  "$'\\x41\\'\\101'",
  '$"l"',
  "${x:=s}",
  "${a[0]}",
  "$[1]",
];

const OPERATORS = [";", "; ", " && ", " || ", " | ", "\n", " & ", " |& ", "\n\n", " # c\n", " #'\"\n", ";;"];

const ODD = [
  "((1 < 2))",
  "((x++))",
  "for ((i=0;i<2;i++)); do echo $i; done",
  "f() { echo; }",
  "((1)(2))",
  "((echo) )",
];

interface Grammar {
  readonly word: string;
  readonly simple: string;
  readonly list: string;
}

const { list } = fc.letrec((tie: fc.LetrecTypedTie<Grammar>) => ({
  word: words(tie("list")),
  simple: simpleCommands(tie("word"), tie("list")),
  list: lists(tie("simple"), tie("word"), tie("list")),
}));

function words(inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const quoted = fc.oneof(
    pieces(without("'")).map((text) => `'${text}'`),
    pieces([...without('"\\$`'), "\\\\", '\\"', "\\$", "\\`", "\\a", "$x", "${1}", "$ "]).map(
      (text) => `"${text}"`,
    ),
    texts.map((text) => `'${text}'`),
    texts.map((text) => `"${text}"`),
  );
  const escaped = texts.map((text) => text.replaceAll(/[^\n\w]/g, "\\$&"));
  const part = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...BARE) },
    { weight: 3, arbitrary: quoted },
    { weight: 2, arbitrary: fc.constantFrom(...EXPANSIONS) },
    { weight: 1, arbitrary: fc.constantFrom(...EXPANSIONS).map((text) => `"${text}"`) },
    { weight: 1, arbitrary: fc.constantFrom(...BRACES) },
    { weight: 1, arbitrary: escaped },
    { weight: 1, arbitrary: inner.map((line) => `$(${line})`) },
    { weight: 1, arbitrary: inner.map((line) => `"$(${line})"`) },
    { weight: 1, arbitrary: inner.map((line) => `\`${line}\``) },
  );
  return fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
}

function simpleCommands(word: fc.Arbitrary<string>, inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const body = fc.array(
    fc.oneof(
      fc.constantFrom("$x", "${1}", "\\$", "\\\\", "\tq", "EO", " E", "'", '"', "#", "x\n", "\n"),
      texts,
    ),
    { maxLength: 5 },
  );
  const documents = fc
    .tuple(
      fc.constantFrom("<<E", "<<'E'", "<<-E", '<<"E"', "<<\\E", "<<-'E'", "2<<E"),
      body,
      fc.constantFrom("\n", "\n\t"),
    )
    .map(([operator, lines, end]) => ` ${operator}\n${lines.join("")}${end}E\n`);
  const redirects = fc.oneof(
    { weight: 8, arbitrary: fc.constant("") },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        " >out",
        " 2>&1",
        " >>out",
        " <a",
        " &>out",
        " >/dev/null 2>&1",
        " 1>&2",
        " >|out",
        " <&-",
        " 3<a",
        " >&out",
      ),
    },
    { weight: 1, arbitrary: word.map((text) => ` <<< ${text}`) },
    { weight: 1, arbitrary: word.map((text) => ` > ${text}`) },
    { weight: 2, arbitrary: documents },
    { weight: 1, arbitrary: inner.map((line) => ` < <(${line})`) },
  );
  const before = fc.oneof(
    { weight: 8, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: word.map((text) => `v=${text} `) },
    { weight: 1, arbitrary: fc.constantFrom("v+=1 ", "r=(a 'b c' *) ", "! ", "time ", ">out ") },
  );
  return fc
    .tuple(before, fc.constantFrom(...NAMES), fc.array(word, { maxLength: 3 }), redirects)
    .map(([prefix, name, args, redirect]) => `${prefix}${[name, ...args].join(" ")}${redirect}`);
}

function lists(
  simple: fc.Arbitrary<string>,
  word: fc.Arbitrary<string>,
  inner: fc.Arbitrary<string>,
): fc.Arbitrary<string> {
  return fc.oneof(
    { depthSize: "small" },
    { weight: 4, arbitrary: simple },
    {
      weight: 3,
      arbitrary: fc.tuple(simple, fc.constantFrom(...OPERATORS), inner).map((parts) => parts.join("")),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(..."( ~(~{ ~{~!{ ".split("~"))
        .chain((open) => inner.map((line) => `${open}${line}${open.includes("(") ? ")" : "\n}"}`)),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(inner, inner, inner)
        .map(([test, yes, no]) => `if ${test}\nthen ${yes}\nelse ${no}\nfi`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.array(word, { maxLength: 3 }), inner)
        .map(([list, line]) => `for x in ${list.join(" ")}; do ${line}\ndone`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(word, word, inner)
        .map(([text, pattern, line]) => `case ${text} in ${pattern}|b) ${line}\n;; (*) :; esac`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(word, fc.constantFrom("==", "!=", "=~", "-eq", "<", "-nt"), word)
        .map(([one, test, other]) => `[[ ${one} ${test} ${other} ]]`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom("-n", "-z", "-f", "!", "("), word)
        .map(([test, text]) => `[[ ${test} ${text} ]]`),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...ODD),
    },
  );
}

/** Lines of nearly all that Bash knows, most of them right, some of them broken. */
export const shellLines: fc.Arbitrary<string> = list;
