import { useEffect, useState } from "preact/hooks";
import { type Reader, ServerProblem } from "../../server/create-reader.ts";

/** The token in the fragment of an address; undefined where there is none. */
export function tokenIn(fragment: string): string | undefined {
  const token = new URLSearchParams(fragment.replace(/^#/, "")).get("token");
  return token === null || token === "" ? undefined : token;
}

/** The answer of the server to a page that wants in; `unknown` while a token is traded. */
export type Access = "unknown" | "granted" | "refused";

/** Trades the token of the address for a cookie, and takes it out of the address before anything else. */
export function useSignIn(reader: Reader): {
  readonly access: Access;
  /** Tries another token. */
  readonly enter: (token: string) => void;
} {
  const [access, setAccess] = useState<Access>(tokenIn(location.hash) === undefined ? "granted" : "unknown");
  useEffect(() => {
    const enter = (): void => {
      const token = tokenIn(location.hash);
      if (token !== undefined) history.replaceState(null, "", `${location.pathname}${location.search}#/`);
      void accessWith(reader, token).then(setAccess);
    };
    const onHash = (): void => {
      if (tokenIn(location.hash) !== undefined) enter();
    };
    enter();
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, [reader]);
  return { access, enter: (token) => void accessWith(reader, token).then(setAccess) };
}

/** The answer of the server to a token, or without one to the cookie from before. */
export async function accessWith(reader: Reader, token: string | undefined): Promise<Access> {
  try {
    if (token === undefined) await reader.sessions({ limit: 1 });
    else await reader.signIn(token);
    return "granted";
  } catch (error) {
    // Whatever else fails is told where it is asked for.
    return error instanceof ServerProblem && error.status === 401 ? "refused" : "granted";
  }
}
