import { type Environment, variable } from "../../../system/env.ts";

/** Names of the themes, in the order of {@link COLOURS}. */
export const THEME_NAMES = ["dark", "light", "ansi"] as const;
export type ThemeName = (typeof THEME_NAMES)[number];

export interface Appearance {
  readonly theme: ThemeName;
  /** False: no colours, only bold, underline and inverse. */
  readonly colour: boolean;
  readonly unicode: boolean;
  /** True if links may be written as terminal links (OSC 8). */
  readonly links: boolean;
}

/** A role's codes in each theme. Those of `ansi` use the terminal's palette and suit any background. */
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
  alert: ["38;5;16;48;5;210", "38;5;231;48;5;160", "30;41"],
  plan: ["38;5;141", "38;5;61", "35"],
  rule: ["38;5;238", "38;5;251", "90"],
  own: ["48;5;234", "48;5;255", "1"],
  "own-mark": ["38;5;80;48;5;234", "38;5;30;48;5;255", "1;36"],
  "trace-ran": ["38;5;105", "38;5;62", "34"],
  "trace-edit": ["38;5;44", "38;5;37", "36"],
  pixel: ["48;5;80", "48;5;30", "46"],
} as const;

export type Role = keyof typeof COLOURS;

export interface Style {
  readonly role?: Role;
  readonly bold?: boolean;
  readonly italic?: boolean;
  readonly strike?: boolean;
  /** The target of a click. Shown as a link only if it is a plain web or file address. */
  readonly link?: string;
}

/** The codes that turn a style on after a reset; empty for a plain style. */
export function styleCodes(style: Style, { theme, colour }: Appearance): string {
  const codes: string[] = [];
  if (style.bold === true) codes.push("1");
  if (style.italic === true) codes.push("3");
  if (style.strike === true) codes.push("9");
  if (style.role !== undefined && colour) codes.push(COLOURS[style.role][THEME_NAMES.indexOf(theme)] ?? "");
  else if (style.role === "added-part" || style.role === "removed-part") codes.push("4");
  else if (style.role === "alert") codes.push("7");
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

export type Marks = { readonly [name in keyof typeof MARKS]: string };

export function marksOf({ unicode }: Pick<Appearance, "unicode">): Marks {
  return unicode ? UNICODE : ASCII;
}

const UNICODE = marksAt(0);
const ASCII = marksAt(1);

function marksAt(index: 0 | 1): Marks {
  return Object.fromEntries(Object.entries(MARKS).map(([name, marks]) => [name, marks[index]])) as Marks;
}

/**
 * Treatment of lines in a terminal that becomes narrower. `none`: lines are cut. `exact`: they are rewrapped
 * and the cursor stays on its character. `counting`: they are rewrapped and the cursor moves down by every
 * added row, even rows below it.
 */
export type Reflow = "none" | "exact" | "counting";

/** Until the terminal reports its background. `theme`: from the settings. */
export function appearanceFor(environment: Environment, theme?: string): Appearance {
  const term = variable(environment, "TERM") ?? "";
  const has256 =
    term.includes("256") || term.includes("kitty") || variable(environment, "COLORTERM") !== undefined;
  const forced = variable(environment, "FORCE_COLOR");
  return {
    theme: THEME_NAMES.find((name) => name === theme) ?? (has256 ? themeOfVariable(environment) : "ansi"),
    colour: variable(environment, "NO_COLOR") === undefined && forced !== "0" && forced !== "false",
    unicode: speaksUnicode(environment),
    links: term !== "linux",
  };
}

/** Some terminals that do not report a background name its palette colour in `COLORFGBG`. */
function themeOfVariable(environment: Environment): ThemeName {
  const background = /;(\d+)$/.exec(variable(environment, "COLORFGBG") ?? "")?.[1];
  return background === "7" || background === "15" ? "light" : "dark";
}

/** True if the terminal shows more than ASCII: by the locale; without one unless it is a bare console. */
function speaksUnicode(environment: Environment): boolean {
  const locale = ["LC_ALL", "LC_CTYPE", "LANG"]
    .map((name) => variable(environment, name))
    .find((value) => value !== undefined);
  return locale === undefined ? variable(environment, "TERM") !== "linux" : /utf-?8/i.test(locale);
}

export function reflowOf(environment: Environment): Reflow {
  const term = variable(environment, "TERM") ?? "";
  const isScreen = term.startsWith("screen") && variable(environment, "TMUX") === undefined;
  return term === "linux" || isScreen || variable(environment, "XTERM_VERSION") !== undefined
    ? "none"
    : "exact";
}

/** From a terminal's reply: `[>0;276;0c` is xterm.js. Undefined if unknown. */
export function reflowOfNamed(reply: string): Reflow | undefined {
  return reply === "[>0;276;0c" ? "counting" : undefined;
}

/** The theme for a reported background (`]11;rgb:ffff/ffff/ffff`); undefined if the report has no color. */
export function themeForBackground(reply: string): ThemeName | undefined {
  const found = /^\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(reply);
  if (found === null) return undefined;
  const [red = 0, green = 0, blue = 0] = found
    .slice(1)
    .map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? "light" : "dark";
}
