import { misuse } from "../../../core/base/errors.ts";
import { parseServer } from "../../../extensions/mcp/server-definition.ts";
import type { CommandCall } from "../command-call.ts";

/** A server that `mcp add` is to keep. */
export interface NewServer {
  readonly name: string;
  readonly definition: object;
}

/** The server that `mcp add` describes. Throws `invalid_argument` for one that could not be used. */
export function definitionFrom(call: CommandCall): NewServer {
  const [name = "", url] = call.words;
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name))
    throw misuse(
      `${JSON.stringify(name)} is not a name for a server: use letters, digits, ".", "_" and "-".`,
    );
  const definition = url === undefined ? ofCommand(call) : ofAddress(call, url);
  // Variables may be set later, or elsewhere: only their form is looked at.
  const place = { source: "mcp add", variables: new Proxy({}, ANY_VARIABLE) };
  const parsed = parseServer(name, definition, place);
  if (!parsed.ok) throw misuse(`The server ${name} ${parsed.fault}`);
  return { name, definition };
}

const ANY_VARIABLE: ProxyHandler<{ readonly [name: string]: string }> = {
  get: () => "http",
  getOwnPropertyDescriptor: () => ({ configurable: true, enumerable: true, value: "http" }),
};

function ofCommand({ behind, has, list }: CommandCall): object {
  const [command, ...args] = behind;
  if (command === undefined)
    throw misuse("mcp add needs a URL, or behind -- a command: nano-agent mcp add NAME -- COMMAND…");
  for (const option of ["--header", "--transport"] as const)
    if (has(option)) throw misuse(`${option} is for a server at a URL. Leave it out.`);
  const env = pairs(list("--env"), { option: "--env", sign: "=" });
  return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }) };
}

function ofAddress({ behind, has, list, text }: CommandCall, url: string): object {
  if (behind.length > 0) throw misuse("mcp add got a URL and a command. Leave one out.");
  if (has("--env")) throw misuse("--env is for a server that a command starts. Leave it out.");
  const headers = pairs(list("--header"), { option: "--header", sign: ":" });
  const type = text("--transport") ?? "http";
  return { type, url, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
}

function pairs(
  texts: readonly string[],
  { option, sign }: { readonly option: string; readonly sign: string },
): { readonly [name: string]: string } {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(sign);
      if (at < 1)
        throw misuse(`${option} ${JSON.stringify(text)}: write NAME${sign}${sign === ":" ? " " : ""}TEXT.`);
      const value = text.slice(at + 1);
      return [text.slice(0, at).trim(), sign === ":" ? value.trim() : value];
    }),
  );
}
