import { describe, expect, test } from "vitest";
import { parseShell } from "./parse-shell.ts";
import { printShell } from "./print-shell.ts";

function formOf(line: string, posix = false): string | undefined {
  const { script } = parseShell(line);
  return script === undefined ? undefined : printShell(script, line, { posix }).text;
}

describe("the printed form", () => {
  test.each([
    ["ls   -la\tsrc ;", "ls -la src"],
    ['git commit -m "it\'s $x"', "git commit -m 'it'\\''s '\"$x\""],
    ["echo a\\ b 'c'\"d\"e \\~ '' if", "echo 'a b' cde '~' '' 'if'"],
    ["cat .{e..e}nv x{,y}z {01..03} {c..a}", "cat .env xz xyz 01 02 03 c b a"],
    ["cat {,x}~/notes.txt ~ ~/ HEAD~1", "cat ~/'notes.txt' 'x~/notes.txt' ~ ~/ 'HEAD~1'"],
    ["rm *.log src/[a-z]?/x", "rm *'.log' 'src/'[a-z]?'/x'"],
    ['echo $x$y"$@"b ${x:-d} ${#x} $((x + 1))', "echo $x$y\"$@\"'b' ${x:-d} ${#x} $((x + 1))"],
    ['echo `ls a` "$(cat b | wc)" $( (ls) )', 'echo $(ls a) "$(cat b | wc)" $( ( ls ))'],
    ["cat <<'E' | wc # c\n$x it's\n\nE\nls", "cat <<< '$x it'\\''s\n' | wc; ls"],
    ['cat <<E\n$x "q" \\$5\nE', 'cat <<< "$x"\' "q" $5\''],
    ["cat <<-E\n\ta\n\tE", "cat <<< a"],
    ["cat <<E\nE", "cat < /dev/null"],
    ["ls >/dev/null 2>&1 <a &>>b", "ls > /dev/null 2>&1 < a &>> b"],
    ["if a; then b; elif c; then d; else e; fi", "if a; then b; elif c; then d; else e; fi"],
    ["for f in a 'b c'\ndo\n  ls $f # c\ndone", "for f in a 'b c'; do ls $f; done"],
    ["case $x in a|b*) ls;; *) ;; esac", "case $x in (a | 'b'*) ls ;; (*) ;; esac"],
    ["[[ -f a && ! $x == *.ts ]]", "[[ -f a && ! $x == *'.ts' ]]"],
    ["(cd a; ls) & { b; } || ! c", "( cd a; ls ) & { b; } || ! c"],
    ["A=1 B='x y' C=~/z make", "A=1 B='x y' C=~/'z' make"],
    ["echo $'a\\tb\\e[0m'", "echo $'a\tb\\033[0m'"],
    ['while read -r l; do echo "$l"; done < f', 'while read -r l; do echo "$l"; done < f'],
    ["ls \\\n  -l", "ls -l"],
  ])("of %j is %j, and that of itself", (line, form) => {
    expect([formOf(line), formOf(form)]).toEqual([form, form]);
  });

  test.each([
    "ls >(cat)# | touch pwned",
    "echo \"${x:-$'$(touch pwned)'}\"",
    "((${x#)} touch pwned)); echo a",
    "echo $(ls # )\n)",
    "echo `ls # c`",
    'echo "`echo "a"`"',
    "echo `echo \\`ls\\``",
    "echo $(($(case '' in a)esac)))",
    "echo $((ls); ls)",
    "((a); (b))",
    "echo ${a[PATH=3]} ",
    "echo ${!x}",
    "echo ${x@P}",
    "echo hi {PATH}>/dev/null",
    "[[ PATH=3 -eq 3 ]]",
    "[[ a\n]]",
    "a[0]=1",
    "f() { ls; }",
    "select x in a; do ls; done",
    "coproc ls",
    "echo @(a|b)",
    'echo $"x"',
    "echo $[1+2]",
    "echo ~root",
    "echo a=~",
    "echo ~$x",
    "echo $x{a,b}",
    "echo {a,{b,c}}",
    "echo {,}",
    "echo 'a'#b\\\nc",
    "ls (",
    "{ ls }",
    "ls;;",
    "cat <<E\na\\\nE\nE",
    "cat <<E",
    "cat <<$x\n$x",
    "[[ $(cat <<E\nE\n) ]]",
    "echo $'\\u41' ",
    'echo "a\\\nb"',
    "for f; do ls; done",
    "time time ls",
    "case x in a) ls;& *) ls;; esac",
    "< <(ls)`cat` ls",
  ])("of %j there is none", (line) => {
    expect(formOf(line)).toBe(undefined);
  });

  test.each([
    "echo $'a'",
    "cat <<< x",
    "ls &> f",
    "ls |& cat",
    "cat <(ls)",
    "[[ a ]]",
    "((1))",
    "echo {a,b}",
    "echo ${x/a/b}",
    "a=(b)",
    "time ls",
  ])("of %j there is none for a shell that is not Bash", (line) => {
    expect([typeof formOf(line), formOf(line, true)]).toEqual(["string", undefined]);
  });

  test("says what it cannot print, and why", () => {
    const line = "ls && echo ${x@P}";
    const { script } = parseShell(line);
    expect(script === undefined ? undefined : printShell(script, line)).toEqual({
      part: "${x@P}",
      reason: "what it does with a variable is more than can be printed anew",
    });
  });
});
