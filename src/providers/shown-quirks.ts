/** Quirks that a refusal has shown a model to have. */
export interface ShownQuirks {
  readonly [name: string]: boolean | string | number;
}
