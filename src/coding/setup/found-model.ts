/** A model of a local server that was found. */
export interface FoundModel {
  /** That of the model; of the server alone while that is loading and does not say which. */
  readonly name: string;
  readonly baseUrl: string;
  readonly isLoading?: true;
}

/** How local servers are looked for. */
export interface ModelSearch {
  /** Looks again while the server loads its model: only where somebody chose it. Default false. */
  readonly waits?: boolean | undefined;
  /** The only server that counts. */
  readonly baseUrl?: string;
}
