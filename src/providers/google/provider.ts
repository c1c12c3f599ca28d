import type { Wire } from "../wire.ts";
import { createGoogleDecoder } from "./decode.ts";
import { createGoogleEncoder } from "./encode.ts";
import { googleError } from "./error.ts";

/** Where the Gemini API lives. A base URL without a version in its path gets `/v1beta`. */
export const GOOGLE_BASE_URL = "https://generativelanguage.googleapis.com/v1beta";

/** Google `generateContent`, streamed. */
export const googleWire: Wire = {
  name: "google",
  createEncoder: createGoogleEncoder,
  createDecoder: createGoogleDecoder,
  toError: googleError,
};
