import type { Agent } from "../../agent/agent.ts";
import { errorMessage, misuse } from "../../core/base/errors.ts";
import { defined } from "../../core/base/json.ts";
import { EFFORTS, type Effort, type Model } from "../../core/model/model.ts";
import { LOCAL_MODEL } from "../../providers/model-choice.ts";
import { parseModelName } from "../../providers/model-info.ts";
import type { Notice } from "../../view/notice.ts";
import type { ChosenModel, Composition } from "../setup/compose.ts";
import type { OpenSession } from "../setup/open-session.ts";
import type { ModelView } from "./coding-session.ts";
import type { NoticeBoard } from "./notice-board.ts";

interface SessionModel extends Omit<ChosenModel, "source"> {
  readonly source?: string;
  /** True when the effort is one that the name of the model says, and the model sees to it itself. */
  readonly isNamed: boolean;
}

export class ModelControl {
  readonly #open: Composition["openModel"];
  readonly #agent: () => Agent;
  #chosen: SessionModel;

  constructor({ chosen, openModel }: Composition, agent: () => Agent) {
    this.#open = openModel;
    this.#agent = agent;
    this.#chosen = { ...chosen, isNamed: true };
  }

  get effort(): Effort | undefined {
    return this.#chosen.effort;
  }

  get name(): string {
    const { provider, id } = this.#chosen.model;
    return `${provider}/${id}`;
  }

  get view(): ModelView {
    const { model, why, source } = this.#chosen;
    return { name: this.name, why, ...defined({ source, windowTokens: model.info?.contextWindow }) };
  }

  get notice(): Notice {
    const { why, source } = this.#chosen;
    return { level: "info", code: "model_chosen", model: this.name, why, ...defined({ source }) };
  }

  /** The model and effort an agent of the session is made with. */
  get choice(): { readonly model: Model; readonly effort: Effort | undefined } {
    const { model, effort, isNamed } = this.#chosen;
    return { model, effort: isNamed ? undefined : effort };
  }

  /** Takes up the model the session was changed to, unless another is asked for. True where it did. */
  async resume({ newestOf }: OpenSession, notices: NoticeBoard): Promise<boolean> {
    const change = this.#chosen.why === "flag" ? undefined : newestOf("model_change");
    if (change === undefined || change.model === this.name) return false;
    try {
      const model = await this.#open(change.model);
      this.#chosen = { model, effort: change.effort, why: "resumed", source: "the session", isNamed: false };
      return true;
    } catch (error) {
      const message = `The session was working with ${change.model}, which cannot be used now: ${errorMessage(error)}`;
      notices.add({ level: "warning", code: "setting", message });
      return false;
    }
  }

  async setModel(name: string): Promise<void> {
    const said = name === LOCAL_MODEL ? undefined : parseModelName(name);
    const model = await this.#open(said === undefined ? name : `${said.provider}/${said.id}`);
    const effort = said?.effort ?? this.#chosen.effort;
    await this.#agent().setModel(model, { effort });
    this.#chosen = { model, effort, why: "flag", isNamed: false };
  }

  /** Another model for one message; the function returned takes it back. */
  async lend(name: string): Promise<() => Promise<void>> {
    const [before, { model, effort }] = [this.#chosen, this.choice];
    await this.setModel(name);
    return async () => {
      await this.#agent().setModel(model, { effort });
      this.#chosen = before;
    };
  }

  async setEffort(effort: Effort | undefined): Promise<void> {
    if (effort !== undefined && !EFFORTS.includes(effort))
      throw misuse(`${JSON.stringify(effort)} is not an effort. Use one of ${EFFORTS.join(", ")}.`);
    const { isNamed, effort: named } = this.#chosen;
    const hasNamed = isNamed && named !== undefined;
    const model = hasNamed ? await this.#open(this.name) : this.#chosen.model;
    await this.#agent().setModel(model, { effort });
    this.#chosen = { ...this.#chosen, model, effort, isNamed: false };
  }
}
