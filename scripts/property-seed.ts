import fc from "fast-check";

/** Seed of the property tests, so that a run of the tests says the same on every machine. */
const SEED = 20_261;

// NANO_AGENT_SEED is another number, or `random` to look for what this seed does not find.
const given = process.env["NANO_AGENT_SEED"] ?? String(SEED);
if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given) });
