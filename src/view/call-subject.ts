import type { ToolInput } from "../core/message/message.ts";
import { pathLine } from "./safe-text.ts";

/** The doing of a call, as a person may decide on it: nothing of it is left out. */
export interface CallSubject {
  /** The argument that says most: the command of `bash`, else a path or an address, on one line. */
  readonly main: string;
  /** All other arguments that are given. */
  readonly others: ToolInput;
}

/** The subject of a call; `undefined` where no argument speaks for the others. */
export function callSubject(tool: string, input: ToolInput): CallSubject | undefined {
  const name = tool === "bash" ? "command" : typeof input["path"] === "string" ? "path" : "url";
  const { [name]: main, ...rest } = input;
  if (typeof main !== "string") return undefined;
  const others = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { main: name === "command" ? main : pathLine(main), others };
}
