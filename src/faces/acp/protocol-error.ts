import { RequestError } from "@agentclientprotocol/sdk";
import { type NanoAgentError, toNanoAgentError } from "../../core/base/errors.ts";
import { withoutUnkept } from "../../session/session-error.ts";
import { EXIT, exitCodeOfError } from "../../view/exit-code.ts";

const [AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS] = [-32_000, -32_603, -32_602];

/**
 * An error of ours as one of the protocol: what the editor asked for cannot be had, a login is missing, or
 * the work failed. Its sentence is that of the command, which the editor shows to the person.
 */
export function protocolError(error: Pick<NanoAgentError, "code" | "message">): RequestError {
  const { code } = error;
  const message = withoutUnkept(error.message);
  const exit = exitCodeOfError(code);
  if (exit === EXIT.credentials) return new RequestError(AUTH_REQUIRED, message, { code });
  return new RequestError(exit === EXIT.failed ? INTERNAL_ERROR : INVALID_PARAMS, message, { code });
}

/** Does something that an editor asked for; what goes wrong is an error of the protocol. */
export async function inProtocol<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw thrown instanceof RequestError ? thrown : protocolError(toNanoAgentError(thrown));
  }
}
