import type { Agent } from "../../agent/agent.ts";
import { errorMessage, NanoAgentError } from "../../core/base/errors.ts";
import type { Effort, Model } from "../../core/model/model.ts";
import { EFFORTS, parseModelName } from "../../providers/model-name.ts";
import type { ComposedAgent } from "../compose.ts";
import type { OpenSession } from "../open-session.ts";
import type { ModelView } from "./coding-session.ts";
import type { ModelReason, Notice } from "./notice.ts";
import type { NoticeBoard } from "./notice-board.ts";

/** The model of a session: which it is, why, and how it is changed. */
export class ModelControl {
  readonly #composed: ComposedAgent;
  readonly #agent: () => Agent;
  #model: Model;
  #effort: Effort | undefined;
  #why: ModelReason;
  #source: string | undefined;
  /** Whether the effort is one that the name of the model says, and the model sees to it itself. */
  #isNamed = true;

  constructor(composed: ComposedAgent, agent: () => Agent) {
    this.#composed = composed;
    this.#agent = agent;
    this.#model = composed.agent.model;
    this.#effort = composed.effort;
    this.#why = composed.modelWhy.why;
    this.#source = composed.modelWhy.source;
  }

  get effort(): Effort | undefined {
    return this.#effort;
  }

  /** `provider/id`. */
  get name(): string {
    return `${this.#model.provider}/${this.#model.id}`;
  }

  get view(): ModelView {
    const { name } = this;
    const windowTokens = this.#model.info?.contextWindow;
    const source = this.#source === undefined ? {} : { source: this.#source };
    return { name, why: this.#why, ...source, ...(windowTokens === undefined ? {} : { windowTokens }) };
  }

  get notice(): Notice {
    const source = this.#source === undefined ? {} : { source: this.#source };
    return { level: "info", code: "model_chosen", model: this.name, why: this.#why, ...source };
  }

  /** What an agent of the session is made with. */
  get choice(): { readonly model: Model; readonly effort: Effort | undefined } {
    return { model: this.#model, effort: this.#isNamed ? undefined : this.#effort };
  }

  /**
   * Takes up the model that the session was changed to, unless another one is asked for. Resolves to whether
   * there is one.
   */
  async resume({ newestOf }: OpenSession, notices: NoticeBoard): Promise<boolean> {
    const change = this.#why === "flag" ? undefined : newestOf("model_change");
    if (change === undefined || change.model === this.name) return false;
    try {
      this.#model = await this.#composed.openModel(change.model);
      this.#effort = change.effort;
      this.#isNamed = false;
      this.#why = "resumed";
      this.#source = undefined;
      return true;
    } catch (error) {
      const message = `The session was working with ${change.model}, which cannot be used now: ${errorMessage(error)}`;
      notices.add({ level: "warning", code: "setting", message });
      return false;
    }
  }

  async setModel(name: string): Promise<void> {
    const { provider, id, effort } = parseModelName(name);
    const model = await this.#composed.openModel(`${provider}/${id}`);
    const chosen = effort ?? this.#effort;
    await this.#agent().setModel(model, { effort: chosen });
    this.#model = model;
    this.#effort = chosen;
    this.#isNamed = false;
    this.#why = "flag";
    this.#source = undefined;
  }

  /** Another model for one message; the function returned takes it back. */
  async lend(name: string): Promise<() => Promise<void>> {
    const before = { model: this.#model, effort: this.#effort, why: this.#why, source: this.#source };
    const { effort } = this.choice;
    const isNamed = this.#isNamed;
    await this.setModel(name);
    return async () => {
      await this.#agent().setModel(before.model, { effort });
      this.#model = before.model;
      this.#effort = before.effort;
      this.#why = before.why;
      this.#source = before.source;
      this.#isNamed = isNamed;
    };
  }

  async setEffort(effort: Effort | undefined): Promise<void> {
    if (effort !== undefined && !EFFORTS.includes(effort))
      throw new NanoAgentError(
        "invalid_argument",
        `${JSON.stringify(effort)} is not an effort. Use one of ${EFFORTS.join(", ")}.`,
      );
    const hasNamed = this.#isNamed && this.#effort !== undefined;
    const model = hasNamed ? await this.#composed.openModel(this.name) : this.#model;
    await this.#agent().setModel(model, { effort });
    this.#model = model;
    this.#isNamed = false;
    this.#effort = effort;
  }
}
