import { createContext } from "preact";
import type { SessionActions } from "./session-actions.ts";

/** The actions at the end of the newest run. */
export interface EndActions {
  /** Id of its item; undefined where no run has ended. */
  readonly end: string | undefined;
  readonly isWritable: boolean;
  readonly actions: SessionActions | undefined;
}

/** The actions that the end of a run offers; none where a conversation is only looked at. */
export const EndActionsContext: ReturnType<typeof createContext<EndActions>> = createContext<EndActions>({
  end: undefined,
  isWritable: false,
  actions: undefined,
});
