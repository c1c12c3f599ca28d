import { isRecord } from "../../core/base/json.ts";
import type { Wire } from "../wire.ts";
import { GoogleDecoder, googleError } from "./decode-google.ts";
import { createGoogleEncoder } from "./encode-google.ts";

/** Google `generateContent`, streamed. A base URL without a version in its path gets `/v1beta`. */
export const googleWire: Wire = {
  name: "google",
  createEncoder: createGoogleEncoder,
  createDecoder: (emit, target) => new GoogleDecoder(emit, target),
  toError: googleError,
  eventsIn: (document) => {
    // Without the parameter that asks for events, Google streams a list.
    const chunks: readonly unknown[] = Array.isArray(document) ? document : [document];
    const isAnswer = chunks.some((chunk) => isRecord(chunk) && Array.isArray(chunk["candidates"]));
    return isAnswer ? chunks.map((chunk) => JSON.stringify(chunk)) : undefined;
  },
};
