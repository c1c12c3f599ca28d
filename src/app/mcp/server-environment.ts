import { shellEnvironment } from "../secrets.ts";
import type { Settings } from "../settings.ts";

/** The variables that processes of servers get: what commands see. */
export function serverEnvironment({ environment, config }: Pick<Settings, "environment" | "config">): {
  readonly [name: string]: string;
} {
  const { env } = shellEnvironment(environment, config.values);
  return Object.fromEntries(
    Object.entries(env).filter((each): each is [string, string] => each[1] !== undefined),
  );
}
