import { counted } from "../../../core/base/text.ts";
import type { McpServerStatus } from "../../../extensions/mcp/mcp-hub.ts";
import type { McpServerDefinition } from "../../../extensions/mcp/server-definition.ts";
import { terminalLine } from "../../../view/safe-text.ts";
import type { Look } from "../command-context.ts";
import { wrapText } from "../wrap-text.ts";

/** One server, as `--json` shows it. Values that may be secrets are not in it. */
export interface ServerRow {
  readonly name: string;
  readonly status: McpServerStatus["status"];
  readonly reason: string | undefined;
  readonly type: McpServerDefinition["type"];
  readonly target: string;
  /** Names of the variables or headers it gets. */
  readonly given: readonly string[];
  readonly source: string;
  /** Tokens that offering all of its tools costs in each request, estimated. */
  readonly tokens: number;
  readonly tools: readonly { readonly name: string; readonly tokens: number }[];
  readonly dropped: McpServerStatus["dropped"];
}

/** Puts together what is known of a server. */
export function serverRow(server: McpServerDefinition, status: McpServerStatus): ServerRow {
  const { reason, tools, dropped } = status;
  const isProcess = server.type === "stdio";
  return {
    name: server.name,
    status: status.status,
    reason,
    type: server.type,
    target: isProcess ? [server.command, ...server.args].join(" ") : server.url,
    given: Object.keys(isProcess ? server.env : server.headers),
    source: server.source,
    tokens: tools.reduce((sum, { tokens }) => sum + tokens, 0),
    tools: tools.map(({ as, tokens }) => ({ name: as, tokens })),
    dropped,
  };
}

/** How {@link serverLines} writes. */
export interface ServerTextShape extends Look {
  readonly more?: { readonly prompts: readonly string[]; readonly resources: readonly string[] };
}

/** A server for people. */
export function serverLines(row: ServerRow, { style, width, more }: ServerTextShape): readonly string[] {
  const below = (text: string): readonly string[] =>
    wrapText(terminalLine(text, 1_000), { width, first: "    ", rest: "      " }).map((line) =>
      style.dim(line),
    );
  const known =
    row.tools.length === 0 ? "" : `  ${counted(row.tools.length, "tool")}, about ${row.tokens} tokens`;
  const reason = row.reason === undefined ? [] : below(row.reason);
  const given = row.given.length === 0 ? "" : ` (with ${row.given.join(", ")})`;
  return [
    `${style.bold(terminalLine(row.name, 100))}  ${row.status}${known}`,
    ...reason,
    ...below(`${row.type}: ${row.target}${given}`),
    ...below(`from ${row.source}`),
    ...row.dropped.flatMap(({ name, reason: why }) => below(`left out: ${name} ${why}`)),
    ...(more === undefined
      ? []
      : [
          ...row.tools.flatMap(({ name, tokens }) => below(`${name}  about ${tokens} tokens`)),
          ...more.prompts.flatMap((name) => below(`prompt ${name}`)),
          ...more.resources.flatMap((mention) => below(`resource ${mention}`)),
        ]),
  ];
}
