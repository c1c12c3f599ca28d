import { lookup as resolveHost } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { PageError } from "./page-error.ts";
import { isPublicAddress } from "./public-address.ts";

/** Resolves as usual and refuses the name as a whole when one of its addresses is not public. */
export const publicLookup: LookupFunction = (host, options, callback) => {
  resolveHost(host, { ...options, all: true }).then(
    (found) => {
      const [first] = found;
      if (first === undefined || !found.every(({ address }) => isPublicAddress(address)))
        callback(refusedHost(host), "", 0);
      else if (options.all === true) callback(null, found);
      else callback(null, first.address, first.family);
    },
    (error: NodeJS.ErrnoException) => callback(error, "", 0),
  );
};

/** What is said of a host that is not public. */
export function refusedHost(host: string): PageError {
  return new PageError(
    `${host} is an address of this machine or a private network, which are not fetched unless the user allows that host.`,
  );
}
