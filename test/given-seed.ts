/** Seeds drawn by chance are below this, so that seeds of parts of a run can be made from them. */
const MOST = 2_000_000;

/**
 * The seed that a run of the tests was given with `NANO_AGENT_SEED`: a whole number, or `random` for one by
 * chance. Default: `usual`.
 */
export function givenSeed(usual: number, given: string | undefined = process.env["NANO_AGENT_SEED"]): number {
  if (given === undefined || given === "") return usual;
  if (given === "random") return Math.floor(Math.random() * MOST);
  if (/^\d{1,9}$/.test(given)) return Number(given);
  throw new Error(
    `NANO_AGENT_SEED is ${JSON.stringify(given)}. Use a whole number of at most nine digits, or random.`,
  );
}
