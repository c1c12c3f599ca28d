import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { CHINESE } from "./chinese.ts";
import { ENGLISH, type Words } from "./english.ts";

/** The languages of the page, as browsers call them. */
export const LANGUAGES = ["en", "zh"] as const;

/** One of the languages. */
export type Language = (typeof LANGUAGES)[number];

/** The words of a language. */
export const WORDS: { readonly [L in Language]: Words } = { en: ENGLISH, zh: CHINESE };

/** The language of a person who reads those named, the first one best. */
export function languageFor(wanted: readonly string[]): Language {
  for (const each of wanted) {
    const known = LANGUAGES.find((language) => each.toLowerCase().split("-")[0] === language);
    if (known !== undefined) return known;
  }
  return "en";
}

/** The language all below is shown in. */
export const LanguageContext: ReturnType<typeof createContext<Language>> = createContext<Language>("en");

/** The language of the page. */
export function useLanguage(): Language {
  return useContext(LanguageContext);
}

/** The words of the page, in its language. */
export function useWords(): Words {
  return WORDS[useLanguage()];
}
