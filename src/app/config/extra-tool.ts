/** Tools of the terminal agent that are there when asked for: each costs tokens with every request. */
export type ExtraTool = (typeof EXTRA_TOOLS)[number];

/** Every {@link ExtraTool}. */
export const EXTRA_TOOLS = ["todo", "web_fetch"] as const;
