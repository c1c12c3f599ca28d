import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { Login, LoginStore } from "../../extensions/mcp/login.ts";
import type { HttpServer } from "../../extensions/mcp/server-definition.ts";
import type { UserPaths } from "../settings/paths.ts";
import { changePrivateFile, readPrivateFile } from "../settings/private-file.ts";

/** The login for a server, in a private file of the user's state; for this name and address alone. */
export function loginStore(server: HttpServer, paths: Pick<UserPaths, "stateFolder">): LoginStore {
  const { url } = server;
  const path = loginFile(server, paths);
  return {
    read: () => loginIn(readPrivateFile(path), url),
    change: (change) =>
      changePrivateFile(path, async (text) => {
        const login = await change(loginIn(text, url));
        return login === undefined ? "" : `${JSON.stringify(login)}\n`;
      }),
  };
}

export function removeLogin(server: HttpServer, paths: Pick<UserPaths, "stateFolder">): boolean {
  const path = loginFile(server, paths);
  const isThere = loginIn(readPrivateFile(path), server.url) !== undefined;
  rmSync(path, { force: true });
  return isThere;
}

export function loginFolder({ stateFolder }: Pick<UserPaths, "stateFolder">): string {
  return join(stateFolder, "mcp", "logins");
}

function loginFile({ name, url }: HttpServer, paths: Pick<UserPaths, "stateFolder">): string {
  const key = hash("sha256", JSON.stringify([name, url])).slice(0, 32);
  return join(loginFolder(paths), `${key}.json`);
}

function loginIn(text: string | undefined, url: string): Login | undefined {
  const parsed = text === undefined ? undefined : safeParse(text);
  const value = parsed?.ok === true ? parsed.value : undefined;
  if (!isRecord(value) || value["url"] !== url || !isRecord(value["tokens"]) || !isRecord(value["client"]))
    return undefined;
  return typeof value["tokens"]["access_token"] === "string" ? (value as unknown as Login) : undefined;
}
