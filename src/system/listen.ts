import type { Server } from "node:net";
import { errorMessage, invalidArgument } from "../core/base/errors.ts";
import { systemCode } from "./system-error.ts";

export interface ListenAddress {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

/** Resolves once the server listens. Throws `invalid_argument` if it cannot listen there. */
export function listen(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    const refused = (error: Error): void => reject(invalidArgument(refusalText(error, { host, port })));
    server.once("error", refused);
    server.listen(port, host, () => {
      server.off("error", refused);
      resolve();
    });
  });
}

function refusalText(error: Error, { host, port }: ListenAddress): string {
  switch (systemCode(error)) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is taken. Choose another one, or 0 for a free one.`;
    case "EACCES":
      return `Port ${port} of ${host} is not yours to take. Choose one above 1023, or 0 for a free one.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `This machine does not have the address ${host}.`;
    default:
      return `Nothing can listen at port ${port} of ${host}: ${errorMessage(error)}.`;
  }
}
