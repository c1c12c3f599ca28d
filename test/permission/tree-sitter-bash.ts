import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Language, type Node, Parser } from "web-tree-sitter";

/**
 * An independent reader of Bash: the names of the commands in a line, or `undefined` where it finds an error.
 */
export type CommandNames = (line: string) => readonly string[] | undefined;

/** Loads tree-sitter's grammar of Bash; `undefined` where this installation does not have it. */
export async function loadCommandNames(): Promise<CommandNames | undefined> {
  const require = createRequire(import.meta.url);
  const grammar = join(dirname(require.resolve("tree-sitter-bash/package.json")), "tree-sitter-bash.wasm");
  if (!existsSync(grammar)) return undefined;
  await Parser.init();
  const parser = new Parser();
  parser.setLanguage(await Language.load(grammar));
  return (line) => {
    const tree = parser.parse(line);
    if (tree === null || tree.rootNode.hasError) return undefined;
    const names = [...commandsBelow(tree.rootNode)].map((node) => node.childForFieldName("name")?.text ?? "");
    tree.delete();
    return names;
  };
}

function* commandsBelow(node: Node): Generator<Node> {
  if (node.type === "command") yield node;
  for (const child of node.namedChildren) if (child !== null) yield* commandsBelow(child);
}
