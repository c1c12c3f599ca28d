import type { VNode } from "preact";
import { terminalLine, terminalText } from "../../../view/safe-text.ts";
import type { ToolItem, ViewItem } from "../../../view/view.ts";
import { useFormats } from "../language/formats.ts";
import { useWords } from "../language/language.ts";
import { DiffView, LineCounts } from "../text/diff-view.tsx";
import { Icon, type Mark, StateMark } from "../text/icons.tsx";

/** Options of {@link ToolView}. `items` draws those of a subagent. */
interface ToolProps {
  readonly item: ToolItem;
  readonly items: (items: readonly ViewItem[]) => VNode;
}

/** A change of at most this many lines stands open. */
const OPEN_LINES = 20;

/**
 * A tool call: one line, which opens to all of it. Short changes, and output of what fails or runs, stand
 * open.
 */
export function ToolView({ item, items }: ToolProps): VNode {
  const words = useWords();
  const { name, title, state, diff, agent, parentCallId } = item;
  const mark = MARKS[state];
  return (
    <>
      <details class={`step${parentCallId === undefined ? "" : " nested"}`} open={isOpen(item)}>
        <summary>
          <StateMark mark={mark} name={words.marks[mark]} />
          <span class="v">{words.verbs[name] ?? terminalLine(name, 80)}</span>
          <span class="mono cut">{terminalLine(title, 300)}</span>
          <span class="meta num">
            {diff === undefined ? <Facts item={item} /> : <LineCounts lines={diff} />}
          </span>
        </summary>
        <div class="body">
          {diff === undefined ? (
            <ToolDetails item={item} />
          ) : (
            <div class="pane">
              <DiffView diff={diff} />
            </div>
          )}
        </div>
      </details>
      {agent !== undefined && (
        <details class="step">
          <summary>
            <Icon name="right" />
            <span class="v">{words.subagent(terminalLine(agent.name, 80))}</span>
            <AgentFacts agent={agent} />
          </summary>
          {items(agent.items)}
        </details>
      )}
    </>
  );
}

function isOpen({ diff, state, tail = "" }: ToolItem): boolean {
  const lines = diff?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if (lines !== undefined) return lines <= OPEN_LINES;
  return tail.trim() !== "" && (state === "error" || state === "running");
}

/** The result in a few words; of a call that is asked about none: the question says it. */
function Facts({ item: { state, brief, durationMs = 0 } }: { readonly item: ToolItem }): VNode {
  const words = useWords();
  const { duration } = useFormats();
  const said = state === "ok" || state === "error" ? brief : undefined;
  const result = said ?? (state === "ok" || state === "asking" ? "" : words.marks[MARKS[state]]);
  const time = durationMs >= 1_000 ? duration(durationMs) : "";
  return <>{[result, time].filter((fact) => fact !== "").join(" · ")}</>;
}

const MARKS: { readonly [S in ToolItem["state"]]: Mark } = {
  writing: "run",
  asking: "wait",
  running: "run",
  ok: "done",
  error: "fail",
  denied: "refused",
  aborted: "cut",
};

function AgentFacts({ agent }: { readonly agent: NonNullable<ToolItem["agent"]> }): VNode {
  const words = useWords();
  const { count, money } = useFormats();
  const cost = agent.costUsd === undefined ? words.costUnknown : money(agent.costUsd);
  return (
    <span class="meta">
      {words.tokens(count(agent.outputTokens))} · {cost}
    </span>
  );
}

function ToolDetails({ item: { input, title, tail = "" } }: { readonly item: ToolItem }): VNode {
  const words = useWords();
  return (
    <>
      {Object.keys(input).length > 0 && argumentText(input) !== title && (
        <>
          <h4>{words.arguments}</h4>
          <pre class="pane out" tabIndex={0} aria-label={words.arguments} dir="auto">
            {terminalText(argumentText(input))}
          </pre>
        </>
      )}
      {tail.trim() !== "" && (
        <>
          <h4>{words.result}</h4>
          <pre class="pane out" tabIndex={0} aria-label={words.result} dir="auto">
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
