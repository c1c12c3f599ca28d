import type { NanoAgentError } from "../base/errors.ts";
import type { AssistantMessage } from "../message/message.ts";
import type { FinishReason } from "../model/model.ts";
import type { BudgetLimit } from "./entry.ts";

/**
 * What one model request came to. `cappedBy`: the limit that held the answer to what the budget still paid for · `exhausted`: it was not
 * made, for the budget is used up or does not pay for it.
 */
export type Reasoned =
  | {
      readonly type: "answer";
      readonly message: AssistantMessage;
      readonly finishReason: FinishReason;
      readonly cappedBy?: BudgetLimit;
    }
  | { readonly type: "aborted" }
  | { readonly type: "exhausted"; readonly limit: BudgetLimit }
  | { readonly type: "failed"; readonly error: NanoAgentError };
