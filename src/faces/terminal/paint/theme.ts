/** Names of the themes, in the order of {@link COLOURS}. */
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
  /** True when links may be written as links (OSC 8). */
  readonly links: boolean;
}

/** A role's codes in each theme. Those of `ansi` are the terminal's palette, fit for every background. */
const COLOURS = {
  accent: ["38;5;80", "38;5;30", "36"],
  muted: ["38;5;245", "38;5;243", "90"],
  good: ["38;5;114", "38;5;28", "32"],
  bad: ["38;5;210", "38;5;160", "31"],
  warning: ["38;5;221", "38;5;130", "33"],
  heading: ["1;38;5;117", "1;38;5;25", "1;36"],
  code: ["38;5;222", "38;5;94", "33"],
  link: ["4;38;5;111", "4;38;5;25", "4;34"],
  keyword: ["38;5;176", "38;5;90", "35"],
  string: ["38;5;114", "38;5;28", "32"],
  number: ["38;5;215", "38;5;130", "33"],
  comment: ["38;5;244", "38;5;245", "90"],
  name: ["38;5;111", "38;5;25", "34"],
  added: ["38;5;114", "38;5;28", "32"],
  removed: ["38;5;210", "38;5;160", "31"],
  "added-part": ["38;5;231;48;5;28", "38;5;16;48;5;157", "7;32"],
  "removed-part": ["38;5;231;48;5;124", "38;5;16;48;5;217", "7;31"],
  plan: ["38;5;141", "38;5;61", "35"],
  rule: ["38;5;238", "38;5;251", "90"],
  own: ["48;5;234", "48;5;255", "1"],
  "own-mark": ["38;5;80;48;5;234", "38;5;30;48;5;255", "1;36"],
  "trace-ran": ["38;5;105", "38;5;62", "34"],
  "trace-edit": ["38;5;44", "38;5;37", "36"],
  pixel: ["48;5;80", "48;5;30", "46"],
} as const;

/** The meaning of a colour; a theme says how it looks. */
export type Role = keyof typeof COLOURS;

/** How a piece of text looks. */
export interface Style {
  readonly role?: Role;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly strike?: boolean;
  /** Where a click leads. Shown as a link only when it is a plain web or file address. */
  readonly link?: string;
}

/** The codes that switch a style on, after everything was switched off; empty for a plain one. */
export function styleCodes(style: Style, { theme, colour }: Look): string {
  const codes: string[] = [];
  if (style.bold === true) codes.push("1");
  if (style.italic === true) codes.push("3");
  if (style.strike === true) codes.push("9");
  if (style.role !== undefined && colour) codes.push(COLOURS[style.role][THEME_NAMES.indexOf(theme)] ?? "");
  else if (style.role === "added-part" || style.role === "removed-part") codes.push("4");
  else if (style.role === "own" || style.role === "own-mark") codes.push("1");
  return codes.join(";");
}

const MARKS = {
  prompt: ["❯", ">"],
  tool: ["●", "*"],
  ok: ["✓", "+"],
  bad: ["✗", "x"],
  running: ["◐", "~"],
  child: ["└", "`-"],
  dot: ["·", "-"],
  todo: ["○", "o"],
  doing: ["◐", "~"],
  full: ["█", "#"],
  empty: ["░", "."],
  rule: ["─", "-"],
  bullet: ["•", "*"],
  column: ["│", "|"],
  cross: ["┼", "+"],
  more: ["…", "..."],
  ask: ["◆", "?"],
  chosen: ["▸", ">"],
  alert: ["▲", "^"],
  minus: ["−", "-"],
  stopped: ["■", "#"],
  refused: ["⊘", "-"],
  cut: ["◌", "~"],
  up: ["↑", "^"],
  down: ["↓", "v"],
} as const;

/** Marks of the screen. */
export type Marks = { readonly [name in keyof typeof MARKS]: string };

/** The marks for a look. */
export function marksOf({ unicode }: Pick<Look, "unicode">): Marks {
  return unicode ? UNICODE : ASCII;
}

const UNICODE = marksAt(0);
const ASCII = marksAt(1);

function marksAt(index: 0 | 1): Marks {
  return Object.fromEntries(Object.entries(MARKS).map(([name, marks]) => [name, marks[index]])) as Marks;
}
