import { type Language, useLanguage } from "../language/language.ts";
import { CHINESE_PICTURES } from "./chinese-pictures.ts";
import { ENGLISH_PICTURES, type PictureWords } from "./english-pictures.ts";

/** The words of the pictures in each language. */
export const PICTURE_WORDS: { readonly [L in Language]: PictureWords } = {
  en: ENGLISH_PICTURES,
  zh: CHINESE_PICTURES,
};

/** The words of the pictures in the language of the page. */
export function usePictureWords(): PictureWords {
  return PICTURE_WORDS[useLanguage()];
}
