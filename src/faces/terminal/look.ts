import { type Environment, variable } from "../../system/env.ts";
import { type Look, THEME_NAMES, type ThemeName } from "./paint/theme.ts";
import type { Reflow } from "./tty/renderer.ts";

/** How the screen is dressed until the terminal tells its background. `theme`: what the settings say. */
export function lookFor(environment: Environment, theme?: string): Look {
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

/** Some terminals that name no background on request say in `COLORFGBG` which palette colour it is. */
function themeOfVariable(environment: Environment): ThemeName {
  const background = /;(\d+)$/.exec(variable(environment, "COLORFGBG") ?? "")?.[1];
  return background === "7" || background === "15" ? "light" : "dark";
}

/** True when the terminal shows more than ASCII: by the locale, and without one unless a bare console. */
function speaksUnicode(environment: Environment): boolean {
  const locale = ["LC_ALL", "LC_CTYPE", "LANG"]
    .map((name) => variable(environment, name))
    .find((value) => value !== undefined);
  return locale === undefined ? variable(environment, "TERM") !== "linux" : /utf-?8/i.test(locale);
}

/** The terminal's way with its lines when it becomes narrower, as far as the environment tells. */
export function reflowOf(environment: Environment): Reflow {
  const term = variable(environment, "TERM") ?? "";
  const isScreen = term.startsWith("screen") && variable(environment, "TMUX") === undefined;
  return term === "linux" || isScreen || variable(environment, "XTERM_VERSION") !== undefined
    ? "none"
    : "exact";
}

/** The same by a terminal's answer: `[>0;276;0c` is xterm.js, as in many editors. Undefined: not told. */
export function reflowOfNamed(reply: string): Reflow | undefined {
  return reply === "[>0;276;0c" ? "counting" : undefined;
}

/** The theme for a named background (`]11;rgb:ffff/ffff/ffff`); undefined when none was named. */
export function themeForBackground(reply: string): ThemeName | undefined {
  const found = /^\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(reply);
  if (found === null) return undefined;
  const [red = 0, green = 0, blue = 0] = found
    .slice(1)
    .map((hex) => Number.parseInt(hex, 16) / (16 ** hex.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? "light" : "dark";
}
