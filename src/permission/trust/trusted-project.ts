import { itemKey, type TrustItem, type TrustKind } from "./trust-item.ts";
import type { TrustedContents } from "./trust-record.ts";

/**
 * Answers whether something that a project brings may act: exactly this content was approved in exactly this
 * folder. Everything else is left out and noted for the report.
 */
export class TrustedProject {
  /** Links resolved: the root of the project's repository, else the working folder. */
  readonly folder: string;
  readonly #approved: TrustedContents;
  readonly #leftOut = new Map<string, TrustItem>();

  constructor(folder: string, approved: TrustedContents = new Map()) {
    this.folder = folder;
    this.#approved = approved;
  }

  /** The items that {@link admits} refused, in that order. */
  get leftOut(): readonly TrustItem[] {
    return [...this.#leftOut.values()];
  }

  /** True when a content was approved. `path`: {@link TrustItem.path}; `hash`: of what would act. */
  isTrusted(kind: TrustKind, path: string, hash: string): boolean {
    return this.#approved.get(itemKey({ kind, path })) === hash;
  }

  /** {@link isTrusted} for an item; one that may not act is noted in {@link leftOut}. */
  admits(item: TrustItem): boolean {
    if (item.blocked === undefined && this.isTrusted(item.kind, item.path, item.hash)) return true;
    this.#leftOut.set(itemKey(item), item);
    return false;
  }
}
