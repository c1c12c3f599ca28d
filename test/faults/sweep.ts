/** How much a fault test tries: a sample with the other tests, everything with `npm run faults`. */
export const isFullSweep: boolean = process.env["NANO_AGENT_FAULTS"] === "full";
