/** The fields that are there: what is `undefined` is left out, as optional fields want it. */
export function defined<T extends object>(given: T): DefinedFields<T> {
  const there: { [name: string]: unknown } = {};
  for (const name in given) if (given[name] !== undefined) there[name] = given[name];
  return there as DefinedFields<T>;
}

/** Fields that may be `undefined` become optional. */
export type DefinedFields<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
