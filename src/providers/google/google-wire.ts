import type { Wire } from "../wire.ts";
import { GoogleDecoder } from "./decode-google.ts";
import { createGoogleEncoder } from "./encode-google.ts";
import { googleError } from "./google-error.ts";

/** Google `generateContent`, streamed. A base URL without a version in its path gets `/v1beta`. */
export const googleWire: Wire = {
  name: "google",
  createEncoder: createGoogleEncoder,
  createDecoder: (emit, target) => new GoogleDecoder(emit, target),
  toError: googleError,
};
