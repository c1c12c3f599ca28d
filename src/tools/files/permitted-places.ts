/** A call that a permission layer has judged. */
export interface PermittedCall {
  readonly callId: string;
  readonly sessionId: string;
  /** The path as the call has it. */
  readonly path: string;
}

/** Where the path of a call led when the call was permitted: a canonical path, `undefined` for a call nobody judged. */
export type PermittedPlaces = (call: PermittedCall) => string | undefined;
