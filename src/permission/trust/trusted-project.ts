import { itemKey, type TrustItem, type TrustKind } from "./trust-item.ts";
import type { TrustedContents } from "./trust-record.ts";

/** The facts a {@link TrustedProject} starts from. */
export interface TrustedProjectOptions {
  /** The project's folder, links resolved: the root of its repository, else the working folder. */
  readonly folder: string;
  /** The contents the user approved there. Default: nothing. */
  readonly approved?: TrustedContents;
}

/**
 * Answers whether something that a project brings may act. A content counts when exactly this content was
 * approved in exactly this folder; whatever else is left out, and remembered for the report.
 */
export class TrustedProject {
  readonly folder: string;
  readonly #approved: TrustedContents;
  readonly #leftOut = new Map<string, TrustItem>();

  constructor({ folder, approved = new Map() }: TrustedProjectOptions) {
    this.folder = folder;
    this.#approved = approved;
  }

  /** The parts that were asked for with {@link admits} and may not act, in the order they were asked for. */
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
