import { tmpdir } from "node:os";
import { systemClock } from "../../src/core/base/async.ts";
import type { Json } from "../../src/core/base/errors.ts";
import type { JsonSchema } from "../../src/core/base/schema.ts";
import type { Elicit } from "../../src/extensions/mcp/connection.ts";
import { authorizationOf, type Login, type LoginStore, logIn } from "../../src/extensions/mcp/login.ts";
import { McpServer } from "../../src/extensions/mcp/mcp-server.ts";
import { connectionOpener } from "../../src/extensions/mcp/open-connection.ts";
import { type HttpServer, parseServer } from "../../src/extensions/mcp/server-definition.ts";
import { ValueForm } from "../../src/view/value-form.ts";

/**
 * The client as the conformance suite runs it: `node conformance-client.ts URL`. Logs in where the server
 * wants that, calls every tool, and takes the defaults of every form.
 */
const url = process.argv.at(-1) ?? "";
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}") as {
  readonly client_id?: string;
  readonly client_secret?: string;
};
/** The page of client metadata that the suite takes for ours, where it wants a client to be called by one. */
const page = "https://conformance-test.local/client-metadata.json";
const isByPage = process.env["MCP_CONFORMANCE_SCENARIO"] === "auth/basic-cimd";
const clientId = context.client_id ?? (isByPage ? page : undefined);
const parsed = parseServer(
  "judge",
  {
    url,
    oauth: {
      ...(clientId === undefined ? {} : { clientId }),
      ...(context.client_secret === undefined ? {} : { clientSecret: context.client_secret }),
    },
  },
  { source: "test", variables: {} },
);
if (!parsed.ok) throw new Error(parsed.fault);
const server = parsed.server as HttpServer;

let login: Login | undefined;
const store: LoginStore = {
  read: () => login,
  change: async (change) => {
    login = await change(login);
  },
};
const parts = { store, clock: systemClock };
const elicit: Elicit = async ({ schema = {} }) => {
  const form = new ValueForm(schema as JsonSchema);
  let taken: ReturnType<ValueForm["take"]>;
  do taken = form.take("");
  while (taken === undefined);
  return "value" in taken
    ? { action: "accept", content: taken.value as { readonly [name: string]: Json } }
    : { action: "decline" };
};
const signal = AbortSignal.timeout(25_000);
const schemas = new Map<string, unknown>();
const owner = new McpServer(server, {
  host: {
    roots: [tmpdir()],
    environment: () => ({}),
    elicit,
    authorization: (each) => authorizationOf(each, parts),
  },
  open: connectionOpener({ version: "1", watcher: undefined }),
  clock: systemClock,
  onLifecycle: () => undefined,
  onTools: (listed) => {
    for (const { name, inputSchema } of listed) schemas.set(name, inputSchema);
  },
});

function wantsLogin(error: unknown): boolean {
  return /login|credentials/.test(String(error));
}

/** Does it, after logging in as often as that is what was missing. */
async function withLogin(work: () => Promise<unknown>, logins = 2): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!wantsLogin(error) || logins === 0) throw error;
    await logIn(server, {
      ...parts,
      signal,
      show: (page) => void fetch(page).then((response) => response.text()),
    });
    await withLogin(work, logins - 1);
  }
}

await withLogin(() => owner.use(signal, (connection) => connection.listTools()));
const inputs: { readonly [tool: string]: object } = {
  add_numbers: { a: 5, b: 3 },
  json_schema_echo: { schema: schemas.get("json_schema_2020_12_tool") },
};
// Some servers have tools that nobody can call.
for (const name of schemas.keys())
  await withLogin(() =>
    owner.call(name, inputs[name] ?? {}, { signal }).catch((error: unknown) => {
      if (wantsLogin(error)) throw error;
    }),
  );
await owner.close();
