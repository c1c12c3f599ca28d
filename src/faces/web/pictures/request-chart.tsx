import type { VNode } from "preact";
import { useId } from "preact/hooks";
import { useFormats } from "../language/formats.ts";
import type { PictureWindow } from "./drawn-bars.ts";
import { usePictureWords } from "./picture-words.ts";
import { type RequestColumn, requestColumns } from "./request-columns.ts";
import type { Timeline } from "./run-timeline.ts";

const COLUMN_PX = 4;
const TOKENS_PX = 64;
const COST_PX = 40;
const HEAD_PX = 18;

/** Tokens of each request and the cost so far, along the axis of a timeline. */
export function RequestChart({
  timeline,
  window,
}: {
  readonly timeline: Timeline;
  readonly window: PictureWindow;
}): VNode {
  const columns = requestColumns(timeline.requests, { axis: timeline.axis, width: COLUMN_PX }, window);
  return (
    <>
      <TokensChart columns={columns} pixels={window.pixels} />
      <CostChart columns={columns} pixels={window.pixels} />
    </>
  );
}

interface ChartProps {
  readonly columns: readonly RequestColumn[];
  readonly pixels: number;
}

function TokensChart({ columns, pixels }: ChartProps): VNode {
  const words = usePictureWords();
  const formats = useFormats();
  const id = useId();
  const most = columns.reduce(
    (all, { request }) => Math.max(all, request.inputTokens + request.outputTokens),
    1,
  );
  const title = `${words.tokensAlong} (≤ ${formats.count(most)})`;
  const height = HEAD_PX + TOKENS_PX;
  return (
    <svg class="chart" role="img" aria-labelledby={`${id}t`} width={pixels} height={height}>
      <title id={`${id}t`}>{title}</title>
      <text class="head" x={0} y={12}>
        {title}
      </text>
      <line class="base" x1={0} x2={pixels} y1={height - 0.5} y2={height - 0.5} />
      {columns.map(({ x, request }) => {
        const { inputTokens, cacheReadTokens, outputTokens } = request;
        let y = height;
        return [
          ["cached", cacheReadTokens] as const,
          ["fresh", inputTokens - cacheReadTokens] as const,
          ["written", outputTokens] as const,
        ].map(([name, tokens]) => {
          const tall = (tokens / most) * TOKENS_PX;
          y -= tall;
          return (
            <rect
              key={`${x} ${name}`}
              class={`mark-${name}`}
              x={x}
              y={y}
              width={COLUMN_PX - 1}
              height={tall}
            />
          );
        });
      })}
    </svg>
  );
}

function CostChart({ columns, pixels }: ChartProps): VNode | null {
  const words = usePictureWords();
  const formats = useFormats();
  const id = useId();
  const priced = columns.filter(({ costUsd }) => costUsd !== undefined);
  const most = priced.at(-1)?.costUsd ?? 0;
  if (most === 0) return null;
  const title = `${words.costAlong} (≤ ${formats.money(most)})`;
  const height = HEAD_PX + COST_PX;
  const top = (costUsd: number | undefined): number => height - ((costUsd ?? 0) / most) * COST_PX;
  const [first] = priced;
  const before = first === undefined ? 0 : Math.max(0, (first.costUsd ?? 0) - (first.request.costUsd ?? 0));
  const path = priced.map(({ x, costUsd }) => `H${x}V${top(costUsd).toFixed(1)}`).join("");
  return (
    <svg class="chart" role="img" aria-labelledby={`${id}t`} width={pixels} height={height}>
      <title id={`${id}t`}>{title}</title>
      <text class="head" x={0} y={12}>
        {title}
      </text>
      <path class="cost-area" d={`M0,${height}V${top(before).toFixed(1)}${path}H${pixels}V${height}Z`} />
      <line class="base" x1={0} x2={pixels} y1={height - 0.5} y2={height - 0.5} />
    </svg>
  );
}
