import type { Omission } from "../../core/agent/entries.ts";
import { counted } from "../../core/base/text.ts";

/** True for a place that stays out of what is kept, however often it is looked at, and is worth a word. */
export function isGap({ path, reason }: Omission): boolean {
  return reason === "too_many_files" || reason === "mount" || (path === "" && reason === "unreadable");
}

/** Says which places below a root are not kept: those at its top one by one, deeper ones in one sentence. */
export function gapNotices(root: string, gaps: readonly Omission[]): readonly string[] {
  const top = gaps.filter(({ path }) => !path.includes("/"));
  const nested = gaps.filter(({ path }) => path.includes("/"));
  const [first, second] = nested;
  if (first === undefined) return top.map((gap) => oneGap(root, gap));
  if (second === undefined) return [...top, first].map((gap) => oneGap(root, gap));
  const reasons = [...new Set(nested.map(({ reason }) => MANY[reason] ?? "cannot be read"))].join(" or ");
  return [
    ...top.map((gap) => oneGap(root, gap)),
    `undo: ${counted(nested.length, "folder")} below ${root}, among them ${first.path}, ${reasons}; ${NOT_KEPT}`,
  ];
}

const NOT_KEPT = "what commands change there is not kept.";
type Words = { readonly [R in Omission["reason"]]?: string };
const ONE: Words = { too_many_files: "has too many files", mount: "is another file system" };
const MANY: Words = { too_many_files: "have too many files", mount: "are other file systems" };

function oneGap(root: string, { path, reason }: Omission): string {
  const shown = path === "" ? root : `${root}/${path}`;
  return `undo: ${shown} ${ONE[reason] ?? "cannot be read"}; ${NOT_KEPT}`;
}
