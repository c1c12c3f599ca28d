import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type GateReport, runGate } from "./gate.ts";
import { isTestFile, listFiles } from "./source.ts";

interface Ban {
  readonly pattern: RegExp;
  readonly advice: string;
  readonly applies?: (path: string) => boolean;
}

const isCode = (path: string): boolean => /\.tsx?$/.test(path);
const isSource = (path: string): boolean => path.startsWith("src/") && !isTestFile(path);

const isPage = (path: string): boolean => /^(?:docs\/(?!decisions\/|api\/)[^/]+|[A-Z]+)\.md$/.test(path);

const BANS: readonly Ban[] = [
  {
    pattern:
      /^(?!\s*(?:\*|\/[/*])).*["'`].*?(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more\b|such\b|tokens\b)/i,
    advice: 'write "is not a …" in what people read',
    applies: isSource,
  },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more\b|such\b)/i,
    advice: 'write "is not a …"',
    applies: isPage,
  },
  { pattern: /\bMend (?:it|that|them)\b/, advice: 'write "Fix it", or better what to do', applies: isSource },
  {
    pattern: /^\s*\/\*\* (?:What|Whether) /,
    advice: 'name the thing ("The result of …", "True when …")',
    applies: isSource,
  },
  {
    pattern:
      /\b(?:interface|type|class) (?!Is[A-Z])(?:[A-Z]\w*[^e\W]ed|(?:[A-Z]\w*)?(?:Found|Given|Hidden|Kept|Known|Left|Lost|Made|Seen|Sent|Shown|Spent|Spoken|Taken|Told|Written)) *[<={]/,
    advice: "name a type by a noun, not by a participle",
    applies: isCode,
  },
  { pattern: /@ts-(ignore|nocheck)/, advice: "make the types say it", applies: isCode },
  {
    pattern: /@ts-expect-error/,
    advice: "only a test of types may expect an error",
    applies: (path) => isCode(path) && !isTestFile(path),
  },
  { pattern: /(eslint|oxlint)-disable|biome-ignore/, advice: "mend the code instead of silencing the rule" },
  { pattern: /(v8|c8|istanbul) ignore/, advice: "test it or remove it" },
  { pattern: /\b(TODO|FIXME|XXX|HACK)[:(]|(\/\/|\*) *(TODO|FIXME|XXX|HACK)\b/, advice: "finish it" },
  { pattern: /(?<!501 )\bnot (yet )?implemented\b/i, advice: "finish it", applies: isSource },
  { pattern: /\bvi\.(mock|doMock|hoisted)\(/, advice: "pass a double in instead of replacing a module" },
  {
    pattern: /^(?:\}, [\d_]{4,}\);|  (?:\{ timeout: [\d_]+ \}|[\d_]{4,}),)$/,
    advice: "no limit of its own for a test: all have one, in vitest.config.ts",
    applies: isTestFile,
  },
  {
    pattern: /\b(?:(?:inner|outer)HTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write)\b/,
    advice: "make elements: what is shown was written by others",
    applies: isSource,
  },
  // Where containers and servers keep a checkout.
  {
    pattern: /(?<![\w~.:])\/(root|srv|work|workspace)\/(main|checkout|repo|project|shared|wt|\.)/,
    advice: "no paths of one machine",
  },
  { pattern: /\b[Ii]ssue #?\d+/, advice: "say the reason itself, not its number" },
];

const FOLDERS = ["src", "test", "scripts", "bench", "examples", "docs"];
const NAMES = /\.(tsx?|mts|js|mjs|md|json|html|css|ya?ml)$/;

/**
 * Checks the text of the project for words that stand for unfinished work, a silenced rule or a private
 * place. This list and the tests of the gates are left out: they name what they catch.
 */
export function checkWords(root: string): GateReport {
  const paths = [
    ...FOLDERS.flatMap((folder) => listFiles(root, folder, NAMES)),
    ...listFiles(root, "", /^(README|AGENTS|CHANGELOG|CONTRIBUTING|SECURITY).*\.md$/).filter(
      (path) => !path.includes("/"),
    ),
  ].filter((path) => path !== "scripts/gates/words.ts" && !path.startsWith("test/gates/"));
  const findings = paths.flatMap((path) => findBannedWords(path, readFileSync(join(root, path), "utf8")));
  return { looked: paths.length, findings };
}

function findBannedWords(path: string, text: string): string[] {
  const bans = BANS.filter((ban) => ban.applies?.(path) ?? true);
  return text.split("\n").flatMap((line, index) => {
    return bans.flatMap(({ pattern, advice }) => {
      const word = pattern.exec(line)?.[0];
      return word === undefined ? [] : [`${path}:${index + 1}  "${word.trim()}": ${advice}`];
    });
  });
}

if (import.meta.main) await runGate("words", checkWords, 20);
