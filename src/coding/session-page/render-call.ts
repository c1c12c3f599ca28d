import type { PermissionEntry, ToolResultEntry } from "../../core/agent/entries.ts";
import { isRecord } from "../../core/base/json.ts";
import type { ToolInput } from "../../core/message/block.ts";
import { describeDuration } from "../../tools/shell/report.ts";
import { callTitle } from "../../view/call-text.ts";
import { type Html, html } from "./html.ts";
import { renderDiff, renderResult } from "./render-blocks.ts";

/** Facts about the calls of a session. */
export interface CallFacts {
  readonly results: ReadonlyMap<string, ToolResultEntry>;
  readonly decisions: ReadonlyMap<string, PermissionEntry>;
  /** Calls made by a call, by its id. */
  readonly children: ReadonlyMap<string, readonly ShownCall[]>;
}

/** A call to be shown. */
export interface ShownCall {
  readonly id: string;
  readonly name: string;
  readonly input: ToolInput;
}

/** A tool call with its arguments, what was decided about it, what it changed and what it gave; folded. */
export function renderCall(call: ShownCall, facts: CallFacts): Html {
  const { id, name, input } = call;
  const result = facts.results.get(id);
  const decision = facts.decisions.get(id);
  const children = facts.children.get(id) ?? [];
  return html`<details class="call"><summary><code>${name}</code> ${callTitle(input)} ${statusOf(result)}</summary>
${decision === undefined ? undefined : renderDecision(decision)}
${renderInput(input, result)}
${children.map((child) => html`<div class="nested">${renderCall(child, facts)}</div>`)}
${result === undefined ? html`<p class="note">No result is recorded.</p>` : renderResult(result.result.content)}
</details>`;
}

function statusOf(result: ToolResultEntry | undefined): Html {
  if (result === undefined) return html`<span class="warn">no result</span>`;
  const time = describeDuration(result.durationMs);
  switch (result.status) {
    case "ok":
      return html`<span class="ok">ok</span> <span class="think">${result.title} ${time}</span>`;
    case "denied":
      return html`<span class="bad">refused</span>`;
    default:
      return html`<span class="bad">${result.status === "aborted" ? "interrupted" : "failed"}</span> <span class="think">${time}</span>`;
  }
}

function renderDecision({ action, by, reason, rule, suggestion }: PermissionEntry): Html {
  const who = by === "rule" ? "a rule" : by === "person" ? "a person" : "nobody to ask";
  return html`<p class="${action === "allow" ? "ok" : "bad"}">${action === "allow" ? "Allowed" : "Refused"} by ${who}: ${reason}${
    rule === undefined ? undefined : html` <code>${rule}</code>`
  }${suggestion === undefined || by === "person" ? undefined : html` (<code>${suggestion}</code> would allow it)`}</p>`;
}

function renderInput(input: ToolInput, result: ToolResultEntry | undefined): Html {
  const diff = result?.metadata?.["diff"];
  const all = html`<pre dir="auto">${JSON.stringify(input, undefined, 2)}</pre>`;
  if (typeof diff === "string")
    return html`${renderDiff(diff)}<details><summary>Arguments</summary>${all}</details>`;
  const edits = replacements(input);
  if (edits.length > 0)
    return html`${edits.map(renderDiff)}<details><summary>Arguments</summary>${all}</details>`;
  return all;
}

/** Replacements among the arguments of an edit, as diffs, for results without one. */
function replacements(input: ToolInput): readonly string[] {
  const edits: readonly unknown[] = Array.isArray(input["edits"]) ? input["edits"] : [input];
  return edits.flatMap((edit) => {
    if (!isRecord(edit)) return [];
    const before = edit["old_string"] ?? edit["oldText"];
    const after = edit["new_string"] ?? edit["newText"];
    if (typeof before !== "string" || typeof after !== "string") return [];
    return [
      [...before.split("\n").map((line) => `-${line}`), ...after.split("\n").map((line) => `+${line}`)].join(
        "\n",
      ),
    ];
  });
}
