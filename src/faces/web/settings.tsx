import { type Context, createContext, type VNode } from "preact";
import { useContext, useLayoutEffect, useState } from "preact/hooks";
import { terminalLine } from "../../view/safe-text.ts";
import { LANGUAGES, type Language, languageFor, useWords, WORDS } from "./language/language.ts";
import { useLiveSessions } from "./sessions/live-sessions.ts";
import { Segments } from "./text/controls.tsx";
import { useLoaded, useReader } from "./work.tsx";

interface StoredSettings {
  readonly language: "system" | Language;
  readonly theme: "system" | "light" | "dark";
  readonly keys: "on" | "off";
  readonly notify: "off" | "on";
}

type Setting = keyof StoredSettings;

/** The choices for each setting, the default first. */
const CHOICES: { readonly [S in Setting]: readonly [StoredSettings[S], ...StoredSettings[S][]] } = {
  language: ["system", ...LANGUAGES],
  theme: ["system", "light", "dark"],
  keys: ["on", "off"],
  notify: ["off", "on"],
};

export interface Settings extends StoredSettings {
  readonly set: (setting: Setting, choice: string) => void;
}

export const SettingsContext: Context<Settings> = createContext<Settings>({
  language: "system",
  theme: "system",
  keys: "on",
  notify: "off",
  set: () => undefined,
});

export function useSettings(): Settings {
  return useContext(SettingsContext);
}

/** The settings stored in the browser, applied to the document, and the resulting language. */
export function useStoredSettings(): { readonly settings: Settings; readonly language: Language } {
  const [stored, setStored] = useState<StoredSettings>(() => ({
    language: storedChoice("language"),
    theme: storedChoice("theme"),
    keys: storedChoice("keys"),
    notify: storedChoice("notify"),
  }));
  const language = stored.language === "system" ? languageFor(navigator.languages) : stored.language;
  const { theme } = stored;
  useLayoutEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : language;
    if (theme === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = theme;
  }, [language, theme]);
  const set = (setting: Setting, choice: string): void => {
    setStored({ ...stored, [setting]: choice });
    try {
      localStorage.setItem(setting, choice);
    } catch {
      // The browser stores nothing for pages: the choice lasts while the page is open.
    }
  };
  return { settings: { ...stored, set }, language };
}

function storedChoice<S extends Setting>(setting: S): StoredSettings[S] {
  const [byDefault, ...others]: readonly [StoredSettings[S], ...StoredSettings[S][]] = CHOICES[setting];
  try {
    const stored = localStorage.getItem(setting);
    return others.find((option) => option === stored) ?? byDefault;
  } catch {
    // The browser stores nothing for pages.
    return byDefault;
  }
}

/** The settings as a form, and the server the page is connected to. */
export function SettingsForm(): VNode {
  const words = useWords();
  const reader = useReader();
  const { isConnected } = useLiveSessions();
  const settings = useSettings();
  const version = useLoaded(() => reader.health(), [])?.version ?? "";
  const nameOf = (setting: Setting, option: string): string => {
    if (setting === "language" && option !== "system") return WORDS[option as Language].language;
    return words.settingOptions[option as keyof typeof words.settingOptions];
  };
  const choose = (setting: Setting, option: string): void => {
    settings.set(setting, option);
    if (setting === "notify" && option === "on") void Notification.requestPermission();
  };
  return (
    <>
      {(Object.keys(CHOICES) as Setting[]).map((setting) => (
        <div key={setting} class="set">
          <span>{words.settingNames[setting]}</span>
          <Segments
            label={words.settingNames[setting]}
            options={CHOICES[setting] as readonly string[]}
            nameOf={(option) => nameOf(setting, option)}
            value={settings[setting]}
            choose={(option) => choose(setting, option)}
          />
        </div>
      ))}
      <hr />
      <p class="dim">
        nano-agent {terminalLine(version, 40)} · {location.host} ·{" "}
        {isConnected ? words.connected : words.connectionLost}
      </p>
    </>
  );
}

const KEYS: readonly (readonly [key: string, action: keyof ReturnType<typeof useWords>["keyActions"]])[] = [
  ["/", "search"],
  ["N", "newSession"],
  ["J K ↓ ↑", "rows"],
  ["B", "back"],
  ["A", "nextQuestion"],
  ["1–9", "answer"],
  ["Esc", "stop"],
  ["[ ]", "tabs"],
  ["O", "calls"],
  ["D", "details"],
  ["U", "undo"],
  ["Shift U", "redo"],
  ["Space ← →", "replay"],
  ["?", "keys"],
];

export function KeyList(): VNode {
  const words = useWords();
  return (
    <>
      <h2>{words.keys}</h2>
      <dl class="keylist">
        {KEYS.map(([key, action]) => (
          <div key={action}>
            <dt>
              {key.split(" ").map((each) => (
                <kbd key={each}>{each}</kbd>
              ))}
            </dt>
            <dd>{words.keyActions[action]}</dd>
          </div>
        ))}
      </dl>
      <button type="button" class="hide" autofocus>
        {words.dismiss}
      </button>
    </>
  );
}
