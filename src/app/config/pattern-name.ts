/** The ways an agent can work, by the names people write. */
export const PATTERN_NAMES = ["simple", "react", "plan", "reflection"] as const;

/**
 * `simple`: the loop with an answer for every case · `react`: with written thoughts and a finish tool · `plan`: a plan, its steps one
 * after the other, an answer from all of them · `reflection`: examines and improves its own answer.
 */
export type PatternName = (typeof PATTERN_NAMES)[number];
