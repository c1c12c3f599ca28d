import { hash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { invalidConfig } from "../../core/base/errors.ts";
import { isRecord, safeParse } from "../../core/base/json.ts";
import type { Login, LoginStore } from "../../extensions/mcp/login.ts";
import type { HttpServer } from "../../extensions/mcp/server-definition.ts";
import { type Environment, variable } from "../../system/env.ts";
import type { UserPaths } from "./paths.ts";
import { changePrivateFile, readPrivateFile } from "./private-file.ts";

type KeysFolder = Pick<UserPaths, "configFolder">;

/** Keys and addresses of providers are the only variables that are saved. */
const SAVED_VARIABLE = /^[A-Z][A-Z0-9_]*_(?:API_KEY|BASE_URL)$/;

/** The user's file of keys and addresses entered on the screen, by variable. */
export function keysPath({ configFolder }: KeysFolder): string {
  return join(configFolder, "keys.json");
}

/** Variables plus the saved keys; a variable that is set wins. Throws `invalid_config` for a broken file. */
export function withSavedKeys(environment: Environment, place: KeysFolder): Environment {
  const path = keysPath(place);
  const saved = Object.entries(keysIn(readPrivateFile(path), path)).filter(
    ([name]) => variable(environment, name) === undefined,
  );
  return saved.length === 0 ? environment : { ...environment, ...Object.fromEntries(saved) };
}

/** Saves keys and addresses, readable by the user alone. Throws like {@link withSavedKeys}. */
export function saveKeys(values: Readonly<Record<string, string>>, place: KeysFolder): Promise<void> {
  const path = keysPath(place);
  return changePrivateFile(
    path,
    (text) => `${JSON.stringify({ ...keysIn(text, path), ...values }, undefined, 2)}\n`,
  );
}

function keysIn(text: string | undefined, path: string): Readonly<Record<string, string>> {
  if (text === undefined) return {};
  const parsed = safeParse(text);
  const entries = parsed.ok && isRecord(parsed.value) ? Object.entries(parsed.value) : [["", 0] as const];
  const values: Record<string, string> = {};
  for (const [name, value] of entries)
    if (SAVED_VARIABLE.test(name) && typeof value === "string") values[name] = value;
    else
      throw invalidConfig(
        `${path} does not hold keys and addresses by variable, such as {"OPENAI_API_KEY": "…"}. Repair or remove it.`,
      );
  return values;
}

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
  const exists = loginIn(readPrivateFile(path), server.url) !== undefined;
  rmSync(path, { force: true });
  return exists;
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
