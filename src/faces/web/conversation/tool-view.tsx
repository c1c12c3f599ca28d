import type { VNode } from "preact";
import type { ToolItem, ViewItem } from "../../../app/coding-session/view.ts";
import { terminalLine, terminalText } from "../../../app/safe-text.ts";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { DiffView } from "../text/diff-view.tsx";

/** Options of {@link ToolView}. `items` draws those of a subagent. */
interface ToolProps {
  readonly item: ToolItem;
  readonly items: (items: readonly ViewItem[]) => VNode;
}

/** A tool call: one line, which opens to all of it. Changes of files stand open. */
export function ToolView({ item, items }: ToolProps): VNode {
  const words = useWords();
  const { duration } = useFormats();
  const { name, title, state, brief, diff, durationMs, agent, parentCallId } = item;
  return (
    <div class={`call ${state}${parentCallId === undefined ? "" : " nested"}`}>
      <details>
        <summary>
          <span class={`mark ${state}`} role="img" aria-label={words.call[state]} />
          <code class="tool-name">{terminalLine(name, 80)}</code>{" "}
          <span class="tool-title">{terminalLine(title, 300)}</span>
          <span class="tool-facts">
            <span class={state === "error" || state === "denied" ? "bad" : "soft"}>
              {state === "ok" ? (brief ?? "") : words.call[state]}
            </span>
            {durationMs !== undefined && <span class="soft"> {duration(durationMs)}</span>}
          </span>
        </summary>
        <ToolDetails item={item} />
      </details>
      {diff !== undefined && <DiffView diff={diff} />}
      {agent !== undefined && (
        <details class="subagent">
          <summary>
            {words.subagent(terminalLine(agent.name, 80))} <AgentFacts agent={agent} />
          </summary>
          {items(agent.items)}
        </details>
      )}
    </div>
  );
}

function AgentFacts({ agent }: { readonly agent: NonNullable<ToolItem["agent"]> }): VNode {
  const words = useWords();
  const { count, money } = useFormats();
  const cost = agent.costUsd === undefined ? words.costUnknown : money(agent.costUsd);
  return (
    <span class="soft">
      {words.tokens(count(agent.outputTokens))} · {cost}
    </span>
  );
}

function ToolDetails({ item: { input, tail = "" } }: { readonly item: ToolItem }): VNode {
  const words = useWords();
  return (
    <>
      {Object.keys(input).length > 0 && (
        <>
          <h4>{words.arguments}</h4>
          <pre tabIndex={0} aria-label={words.arguments} dir="auto">
            {terminalText(argumentText(input))}
          </pre>
        </>
      )}
      {tail.trim() !== "" && (
        <>
          <h4>{words.result}</h4>
          <pre tabIndex={0} aria-label={words.result} dir="auto">
            {terminalText(tail)}
          </pre>
        </>
      )}
    </>
  );
}

/** Arguments with one text are that text: a command reads better without quotes and escapes. */
function argumentText(input: ToolItem["input"]): string {
  const [only, ...more] = Object.values(input);
  return typeof only === "string" && more.length === 0 ? only : JSON.stringify(input, undefined, 2);
}
