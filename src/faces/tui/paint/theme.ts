import type { Role, Style } from "./line.ts";

/** Names of the themes. */
export const THEME_NAMES = ["dark", "light", "ansi"] as const;
/** Name of a theme. */
export type ThemeName = (typeof THEME_NAMES)[number];

/** How the screen is dressed. */
export interface Look {
  readonly theme: ThemeName;
  /** False: no colour at all, only bold, underlined and inverse. */
  readonly colour: boolean;
  /** False: marks and borders in ASCII. */
  readonly unicode: boolean;
  /** Whether links may be written as links (OSC 8). */
  readonly links: boolean;
}

/** The codes that switch a style on, after everything was switched off; empty for a plain one. */
export function styleCodes(style: Style, { theme, colour }: Look): string {
  const codes: string[] = [];
  if (style.bold === true) codes.push("1");
  if (style.dim === true) codes.push("2");
  if (style.italic === true) codes.push("3");
  if (style.underline === true) codes.push("4");
  if (style.inverse === true) codes.push("7");
  if (style.strike === true) codes.push("9");
  const code = style.role === undefined || !colour ? undefined : THEMES[theme][style.role];
  if (code !== undefined) codes.push(code);
  else if (style.role === "added-part" || style.role === "removed-part") codes.push("4");
  return codes.join(";");
}

type Theme = { readonly [role in Role]: string | undefined };

/** Colours of the terminal's own palette, which every background was chosen for. */
const ANSI: Theme = {
  accent: "36",
  muted: "90",
  good: "32",
  bad: "31",
  warning: "33",
  heading: "1;36",
  code: "33",
  link: "4;34",
  keyword: "35",
  string: "32",
  number: "33",
  comment: "90",
  name: "34",
  added: "32",
  removed: "31",
  "added-part": "7;32",
  "removed-part": "7;31",
  plan: "34",
  input: undefined,
};

const DARK: Theme = {
  accent: "38;5;80",
  muted: "38;5;245",
  good: "38;5;114",
  bad: "38;5;210",
  warning: "38;5;221",
  heading: "1;38;5;117",
  code: "38;5;222",
  link: "4;38;5;111",
  keyword: "38;5;176",
  string: "38;5;114",
  number: "38;5;215",
  comment: "38;5;244",
  name: "38;5;111",
  added: "38;5;114",
  removed: "38;5;210",
  "added-part": "38;5;231;48;5;28",
  "removed-part": "38;5;231;48;5;124",
  plan: "38;5;111",
  input: undefined,
};

const LIGHT: Theme = {
  accent: "38;5;30",
  muted: "38;5;243",
  good: "38;5;28",
  bad: "38;5;160",
  warning: "38;5;130",
  heading: "1;38;5;25",
  code: "38;5;94",
  link: "4;38;5;25",
  keyword: "38;5;90",
  string: "38;5;28",
  number: "38;5;130",
  comment: "38;5;245",
  name: "38;5;25",
  added: "38;5;28",
  removed: "38;5;160",
  "added-part": "38;5;16;48;5;157",
  "removed-part": "38;5;16;48;5;217",
  plan: "38;5;25",
  input: undefined,
};

const THEMES: { readonly [name in ThemeName]: Theme } = { dark: DARK, light: LIGHT, ansi: ANSI };

/** Marks of the screen, in Unicode or ASCII. */
export interface Marks {
  readonly prompt: string;
  readonly bar: string;
  readonly tool: string;
  readonly ok: string;
  readonly bad: string;
  readonly running: string;
  readonly child: string;
  readonly dot: string;
  readonly todo: string;
  readonly doing: string;
  readonly full: string;
  readonly empty: string;
  readonly rule: string;
  readonly bullet: string;
  readonly column: string;
  readonly cross: string;
  readonly more: string;
  readonly up: string;
  readonly down: string;
}

/** The marks for a look. */
export function marksOf({ unicode }: Pick<Look, "unicode">): Marks {
  return unicode ? UNICODE : ASCII;
}

const UNICODE: Marks = {
  prompt: "❯",
  bar: "▌",
  tool: "●",
  ok: "✓",
  bad: "✗",
  running: "◐",
  child: "└",
  dot: "·",
  todo: "○",
  doing: "◐",
  full: "█",
  empty: "░",
  rule: "─",
  bullet: "•",
  column: "│",
  cross: "┼",
  more: "…",
  up: "↑",
  down: "↓",
};

const ASCII: Marks = {
  prompt: ">",
  bar: "|",
  tool: "*",
  ok: "+",
  bad: "x",
  running: "~",
  child: "`-",
  dot: "-",
  todo: "o",
  doing: "~",
  full: "#",
  empty: ".",
  rule: "-",
  bullet: "*",
  column: "|",
  cross: "+",
  more: "...",
  up: "^",
  down: "v",
};
