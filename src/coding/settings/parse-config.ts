import {
  applyEdits,
  findNodeAtLocation,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";

/** A byte order mark, as some editors write it. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** A parsed config text with the line (from 1) of each key or list item; or a fault and its line. */
export type ParsedConfig =
  | { readonly value: unknown; readonly lineOf: (path: readonly (string | number)[]) => number }
  | { readonly fault: string; readonly line: number };

/** Parses JSON with comments. A duplicate key is a fault: readers disagree on which one counts. */
export function parseConfigText(given: string): ParsedConfig {
  const errors: ParseError[] = [];
  const text = given.replace(BYTE_ORDER_MARK, "");
  const tree = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const [error] = errors;
  if (error !== undefined)
    return { fault: `not valid JSON (${errorText(error)}). Correct it`, line: lineAt(error.offset) };
  if (tree === undefined) return { value: {}, lineOf: () => 1 };
  const bad = findBadKey(tree);
  if (bad !== undefined)
    return {
      fault: `the key "${String(bad.value)}" ${badKeyReason(bad)}. Remove it`,
      line: lineAt(bad.offset),
    };
  return {
    value: getNodeValue(tree),
    lineOf: (path) => {
      const node = findNodeAtLocation(tree, [...path]);
      return lineAt(((typeof path.at(-1) === "number" ? node : node?.parent) ?? tree).offset);
    },
  };
}

function errorText(error: ParseError): string {
  return printParseErrorCode(error.error)
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}

function findBadKey(node: Node): Node | undefined {
  const keys = new Set<unknown>();
  for (const child of node.children ?? []) {
    if (node.type === "object") {
      const key = child.children?.[0];
      if (key !== undefined && (key.value === "__proto__" || keys.has(key.value))) return key;
      keys.add(key?.value);
    }
    const bad = findBadKey(child);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function badKeyReason(key: Node): string {
  return key.value === "__proto__" ? "is not allowed" : "stands here a second time";
}

/** Sets a value (-1: at the end of a list; `undefined`: removed). Comments and layout stay. */
export function editConfigText(text: string, path: readonly (string | number)[], value: unknown): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  // `trim` removes a byte order mark too.
  const source = text.trim() === "" ? `{}${eol}` : text.replace(BYTE_ORDER_MARK, "");
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol };
  const isArrayInsertion = path.at(-1) === -1;
  const edits = modify(source, [...path], value, { formattingOptions, isArrayInsertion });
  return (BYTE_ORDER_MARK.exec(text)?.[0] ?? "") + applyEdits(source, edits);
}
