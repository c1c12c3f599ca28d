import type { Agent } from "../../agent/agent.ts";
import type { JournalEntry } from "../../core/agent/entries.ts";
import { errorMessage, invalidArgument } from "../../core/base/errors.ts";
import { omitUndefined } from "../../core/base/json.ts";
import { EFFORTS, type Effort, type Model } from "../../core/model/model.ts";
import type { Tool } from "../../core/tool/tool.ts";
import { assertPermissionMode, type PermissionMode } from "../../permission/permission-mode.ts";
import { LOCAL_MODEL } from "../../providers/model-choice.ts";
import { parseModelName } from "../../providers/model-info.ts";
import type { Notice } from "../../view/notice.ts";
import type { Settings } from "../settings/settings.ts";
import type { ChosenModel, Composition } from "../setup/compose.ts";
import type { OpenSession } from "../setup/open-session.ts";
import type { Telemetry } from "../setup/open-telemetry.ts";
import type { CodingSession, CodingSessionOptions, ModelView } from "./coding-session.ts";
import type { PendingQuestions } from "./pending-questions.ts";
import type { SessionNotices } from "./session-notices.ts";

interface SessionModel extends Omit<ChosenModel, "source"> {
  readonly source?: string;
  /** True if the effort is part of the model's name: the model itself applies it. */
  readonly isNamed: boolean;
}

/** The agent of a session, with the model, mode and tools that survive its recreation. */
export class SessionAgent {
  readonly #composed: Composition;
  readonly #addedTools = new Map<string, Tool>();
  #chosen: SessionModel;
  /** A mode that was chosen before there was a conversation to record it in. */
  #unrecordedMode: PermissionMode | undefined;
  agent: Agent;

  constructor(composed: Composition) {
    this.#composed = composed;
    this.#chosen = { ...composed.chosen, isNamed: true };
    this.agent = composed.agent;
  }

  get mode(): PermissionMode {
    return this.#composed.gate.mode();
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
    return { name: this.name, why, ...omitUndefined({ source, windowTokens: model.info?.contextWindow }) };
  }

  get notice(): Notice {
    const { why, source } = this.#chosen;
    return { level: "info", code: "model_chosen", model: this.name, why, ...omitUndefined({ source }) };
  }

  get #choice(): { readonly model: Model; readonly effort: Effort | undefined } {
    const { model, effort, isNamed } = this.#chosen;
    return { model, effort: isNamed ? undefined : effort };
  }

  /** Restores the session's last chosen model, unless another one is requested. */
  async resume(notices: SessionNotices): Promise<void> {
    const { session, openModel } = this.#composed;
    const change = this.#chosen.why === "flag" ? undefined : session.newestOf("model_change");
    if (change === undefined || change.model === this.name) return;
    try {
      const model = await openModel(change.model);
      this.#chosen = { model, effort: change.effort, why: "resumed", source: "the session", isNamed: false };
      await this.renew();
    } catch (error) {
      const message = `The session was working with ${change.model}, which cannot be used now: ${errorMessage(error)}`;
      notices.add({ level: "warning", code: "setting", message });
    }
  }

  /** Recreates the agent from the journal: the old one has an outdated conversation. */
  async renew(): Promise<void> {
    this.agent = await this.#composed.renew(this.#choice);
    for (const tool of this.#addedTools.values()) this.agent.tools.add(tool);
  }

  addTools(tools: readonly Tool[]): void {
    for (const tool of tools) {
      this.agent.tools.add(tool);
      this.#addedTools.set(tool.name, tool);
    }
  }

  removeTools(names: readonly string[]): void {
    for (const name of names) {
      this.agent.tools.remove(name);
      this.#addedTools.delete(name);
    }
  }

  async setMode(mode: PermissionMode): Promise<void> {
    assertPermissionMode(mode);
    this.#composed.gate.setMode(mode);
    if (this.agent.getState().messages.length > 0) await this.agent.setMode(mode);
    else this.#unrecordedMode = mode;
  }

  async recordMode(): Promise<void> {
    if (this.#unrecordedMode !== undefined) await this.agent.setMode(this.#unrecordedMode);
    this.#unrecordedMode = undefined;
  }

  async setModel(name: string): Promise<void> {
    const parsed = name === LOCAL_MODEL ? undefined : parseModelName(name);
    const model = await this.#composed.openModel(
      parsed === undefined ? name : `${parsed.provider}/${parsed.id}`,
    );
    const effort = parsed?.effort ?? this.#chosen.effort;
    await this.agent.setModel(model, { effort });
    this.#chosen = { model, effort, why: "flag", isNamed: false };
  }

  /** Changes the model for one message; resolves to a function that restores the previous one. */
  async setTemporaryModel(name: string): Promise<() => Promise<void>> {
    const [before, { model, effort }] = [this.#chosen, this.#choice];
    await this.setModel(name);
    return async () => {
      await this.agent.setModel(model, { effort });
      this.#chosen = before;
    };
  }

  async setEffort(effort: Effort | undefined): Promise<void> {
    if (effort !== undefined && !EFFORTS.includes(effort))
      throw invalidArgument(`${JSON.stringify(effort)} is not an effort. Use one of ${EFFORTS.join(", ")}.`);
    const { isNamed, effort: named } = this.#chosen;
    const hasEffortInName = isNamed && named !== undefined;
    const model = hasEffortInName ? await this.#composed.openModel(this.name) : this.#chosen.model;
    await this.agent.setModel(model, { effort });
    this.#chosen = { ...this.#chosen, model, effort, isNamed: false };
  }
}

export interface SessionParts {
  readonly options: CodingSessionOptions;
  readonly settings: Settings;
  readonly composed: Composition;
  readonly current: SessionAgent;
  readonly session: OpenSession;
  readonly questions: PendingQuestions;
  readonly notices: SessionNotices;
  readonly telemetry: Telemetry | undefined;
  readonly reopen: (options: CopyOptions) => Promise<CodingSession>;
}

export interface CopyOptions extends CodingSessionOptions {
  readonly entries?: readonly JournalEntry[];
}
