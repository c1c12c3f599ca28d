/** Whether commands are confined: always, where the system can do it, or never. */
export const SANDBOX_MODES = ["on", "auto", "off"] as const;

/** `on`: no command runs without the sandbox, and a run refuses to start where it does not work · `auto`: where it works · `off`: never. */
export type SandboxMode = (typeof SANDBOX_MODES)[number];
