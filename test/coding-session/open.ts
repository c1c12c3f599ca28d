import type { CodingSession, CodingSessionOptions } from "../../src/coding/session/coding-session.ts";
import { createCodingSession } from "../../src/coding/session/prepare-coding-session.ts";
import { ScriptedModel } from "../../src/testing/scripted-model.ts";
import { withVariables } from "../hermetic-command.ts";
import { tempFolder } from "../temp-folder.ts";

/** A user with a working folder and a home of their own. */
export interface Place {
  readonly cwd: string;
  readonly home: string;
  /** Opens a session there with a scripted model. */
  readonly open: (
    steps: ConstructorParameters<typeof ScriptedModel>[0],
    options?: CodingSessionOptions,
  ) => Promise<CodingSession & { readonly model: ScriptedModel }>;
}

/** Makes such a place; it goes with the test. */
export function place(files: Readonly<Record<string, string>> = {}): Place {
  const cwd = tempFolder(files);
  const home = tempFolder();
  return {
    cwd,
    home,
    open: async (steps, options = {}) => {
      const model = new ScriptedModel(steps, { info: { contextWindow: 100_000 } });
      const session = await createCodingSession({
        cwd,
        environment: withVariables({ HOME: home }),
        model,
        ...options,
      });
      return Object.assign(session, { model });
    },
  };
}
