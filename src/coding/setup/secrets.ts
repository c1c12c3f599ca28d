import type { Redaction } from "../../core/base/text.ts";
import type { McpServerDefinition } from "../../extensions/mcp/server-definition.ts";
import { type CommandEnvironment, commandEnvironment } from "../../permission/secrets/command-environment.ts";
import { createRedaction, secretsOf } from "../../permission/secrets/create-redaction.ts";
import type { Environment } from "../../system/env.ts";
import type { ShellOptions } from "../../tools/shell/shell-session.ts";
import type { ConfigFile } from "../settings/config-schema.ts";

/**
 * Takes secrets out of results, errors and exports: credentials in the environment, in the config and in what
 * MCP servers are given, and texts that look like one. `undefined` where the user's config says
 * `redact: false`.
 */
export function redactionFor(
  environment: Environment,
  config: ConfigFile,
  servers: readonly McpServerDefinition[] = [],
): Redaction | undefined {
  if (config.redact === false) return undefined;
  // Made with the first text: a run that shows no results needs none, and making it takes time.
  let made: Required<Redaction> | undefined;
  const redaction = (): Required<Redaction> => {
    const named = [environment, ...configValues(config), ...servers.map(serverValues)];
    made ??= createRedaction({ secrets: named.flatMap((values) => secretsOf(values)) });
    return made;
  };
  return {
    text: (text) => redaction().text(text),
    stream: () => redaction().stream(),
    known: (text) => redaction().known(text),
  };
}

/** The variables commands see, after the user's config. Found out when they are looked at. */
export function shellEnvironment(
  environment: Environment,
  config: ConfigFile,
): Required<Pick<ShellOptions, "env" | "withheld">> {
  const { pass, set } = config.environment ?? {};
  let found: CommandEnvironment | undefined;
  const variables = (): CommandEnvironment => (found ??= commandEnvironment(environment, { pass, set }));
  return {
    get env() {
      return variables().variables;
    },
    get withheld() {
      return variables().withheld;
    },
  };
}

export function commandVariables(
  environment: Environment,
  config: ConfigFile,
): { readonly [name: string]: string } {
  const { env } = shellEnvironment(environment, config);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Values that may be secrets: headers and addresses of providers and proxies, variables of commands. */
function configValues({ providers = {}, network, environment }: ConfigFile): readonly Environment[] {
  const { http, https } = network?.proxy ?? {};
  return [
    ...Object.values(providers).flatMap(({ headers = {}, baseUrl }) => [headers, { baseUrl }]),
    { http, https },
    environment?.set ?? {},
  ];
}

function serverValues(server: McpServerDefinition): Environment {
  return server.type === "stdio" ? server.env : server.headers;
}
