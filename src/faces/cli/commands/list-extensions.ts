import { EXIT } from "../../../app/coding-session/exit-code.ts";
import { currentFolder } from "../../../app/config/paths.ts";
import { findExtensionFiles } from "../../../app/plugins/extension-places.ts";
import { terminalLine } from "../../../app/safe-text.ts";
import { loadSettings } from "../../../app/settings.ts";
import type { LoadedExtension } from "../../../extensions/modules/load-extensions.ts";
import type { CommandCall } from "../command-call.ts";
import type { CommandContext } from "../command-context.ts";
import { styleFor } from "../style.ts";
import { widthOf, wrapText } from "../wrap-text.ts";

const NONE =
  "There are no extensions. One is a .ts or .mjs file in ~/.config/nano-agent/extensions/, or in .nano-agent/extensions/ of a project that you trust.";

/**
 * `nano-agent extensions list`: loads the extensions of this folder, and says what each brings and what
 * stands in the way of others.
 */
export async function extensions(context: CommandContext, call: CommandCall): Promise<number> {
  const { environment, stdout, stderr } = context;
  const settings = await loadSettings({ environment, cwd: currentFolder() });
  const found = findExtensionFiles(settings);
  const { loadExtensions } = await import("../../../app/plugins/plugin-loaders.ts");
  const failed: string[] = [];
  const place = { cwd: settings.cwd, onFailure: (message: string): number => failed.push(message) };
  const loaded = await loadExtensions(found.files, place);
  const rows = loaded.extensions.map(rowOf);
  const untrusted = settings.trust.leftOut
    .filter(({ kind }) => kind === "extension")
    .map(({ path, does }) => ({
      path,
      level: "note",
      message: `${does} once you trust it: nano-agent trust`,
    }));
  const findings = [...found.findings, ...loaded.findings, ...untrusted];
  if (call.has("--json")) {
    stdout.write(`${JSON.stringify({ extensions: rows, findings })}\n`);
    return EXIT.done;
  }
  const width = widthOf(stdout, 1);
  const style = styleFor(stdout.isTerminal, environment);
  if (rows.length === 0) stdout.write(`${wrapText(NONE, { width }).join("\n")}\n`);
  for (const { name, origin, path, ...brings } of rows) {
    const parts = Object.entries(brings).flatMap(([what, names]) =>
      names.length === 0 ? [] : [`${what}: ${names.join(", ")}`],
    );
    const below = [...parts, `${origin}: ${path}`].flatMap((text) =>
      wrapText(terminalLine(text, 500), { width, first: "    " }).map((line) => style.dim(line)),
    );
    stdout.write(`${[style.bold(terminalLine(name, 200)), ...below].join("\n")}\n`);
  }
  for (const { path, level, message } of findings) {
    const text = terminalLine(`${path}: ${message}`, 1_000);
    const lines = wrapText(text, { width: widthOf(stderr, 2), first: `nano-agent: ${level}: `, rest: "  " });
    stderr.write(`${lines.join("\n")}\n`);
  }
  return EXIT.done;
}

function rowOf({ name, origin, path, tools, commands, hooks, providers, statuses }: LoadedExtension) {
  return {
    name,
    origin,
    path,
    tools: tools.map((tool) => tool.name),
    commands: commands.map((command) => `/${command.name}`),
    hooks: hooks.map(({ event, matcher }) => (matcher === undefined ? event : `${event} (${matcher})`)),
    providers: providers.map((provider) => provider.name),
    status: statuses.map(() => "1"),
  };
}
