import { hash } from "node:crypto";
import { counted } from "../core/base/text.ts";
import { describeDuration } from "../tools/shell/report.ts";
import { Html, html } from "./html.ts";
import { PAGE_STYLE } from "./page-style.ts";
import type { RunRecord } from "./results-folder.ts";
import {
  type Comparison,
  changeText,
  comparisonVerdict,
  counts,
  dollars,
  type ModelSummary,
  percent,
  ratioText,
  type ShareEstimate,
  SUMMARY_COLUMNS,
  shareText,
  summaryCells,
} from "./summarize.ts";

export interface PageContent {
  readonly title: string;
  readonly records: readonly RunRecord[];
  readonly summaries: readonly ModelSummary[];
  readonly comparisons: readonly Comparison[];
  /** Titles of tasks by their names. */
  readonly titles: ReadonlyMap<string, string>;
  /** Runs that are still to be made. */
  readonly open: number;
}

/**
 * The results of an evaluation as one HTML page that needs nothing else. Holds no script, and forbids by its
 * content security policy all that is not in it.
 */
export function evaluationPage(content: PageContent): string {
  const { title, summaries, comparisons, open } = content;
  const digest = hash("sha256", PAGE_STYLE, "base64");
  const policy = `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'`;
  const body = html`<header><h1>${title}</h1>
${open === 0 ? undefined : html`<p class="note">Not complete: ${counted(open, "run")} still to be made.</p>`}
${summaryTable(summaries)}
<p class="think">Figures of a run are medians. The interval takes the task as the unit: it says how far the share of solved tasks may be off when the tasks are a sample of many.</p>
</header>
<main>
${comparisons.map(comparison)}
<h2>Tasks</h2>
${taskNames(content).map((task) => taskSection(task, content))}
</main>
<footer>Written by nano-agent.</footer>`;
  const head = html`<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>`;
  return `<!doctype html>\n<html lang="en">\n<head>\n${head.markup}\n<style>${PAGE_STYLE}</style>\n</head>\n<body>\n${body.markup}\n</body>\n</html>\n`;
}

function summaryTable(summaries: readonly ModelSummary[]): Html {
  const bars = summaries.map(
    ({ model, solved }) =>
      html`<li><span>${model}</span>${solved === undefined ? html`<span></span>` : bar(solved)}<span>${solved === undefined ? "-" : percent(solved.share)}</span></li>`,
  );
  return html`<ol class="time">${bars}</ol>
<div class="scroll"><table><tr>${SUMMARY_COLUMNS.map((name) => html`<th>${name}</th>`)}<th>all runs</th></tr>${summaries.map(
    (summary) =>
      html`<tr>${summaryCells(summary).map((cell) => html`<td>${cell}</td>`)}<td>${dollars(summary.totalUsd)}</td></tr>`,
  )}</table></div>`;
}

/** The share as a bar, with its interval in another colour over its end. */
function bar({ share, low, high }: ShareEstimate): Html {
  const at = (value: number): number => Math.round(value * 1_000);
  return html`<svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true"><rect class="m" y="2" height="6" width="${at(share)}"/><rect class="t" y="4" height="2" x="${at(low)}" width="${at(high) - at(low)}"/></svg>`;
}

function comparison(each: Comparison): Html {
  const lines = [
    shareText(each),
    ...(each.better.length === 0 ? [] : [`better: ${changeText(each.better)}`]),
    ...(each.worse.length === 0 ? [] : [`worse: ${changeText(each.worse)}`]),
    ratioText(each),
  ];
  return html`<section><h2>${each.a} → ${each.b}</h2><p>${comparisonVerdict(each)}</p>${lines
    .filter((line) => line !== "")
    .map((line) => html`<p class="meta">${line}</p>`)}</section>`;
}

function taskNames({ records }: PageContent): readonly string[] {
  return [...new Set(records.map(({ task }) => task))].sort();
}

function taskSection(task: string, { records, titles }: PageContent): Html {
  const runs = records.filter((record) => record.task === task);
  const counted = runs.filter(counts);
  const solved = counted.filter((run) => run.solved).length;
  const title = titles.get(task);
  const kind = solved === counted.length && counted.length > 0 ? "ok" : "bad";
  return html`<details${kind === "bad" ? new Html(" open") : undefined}><summary><code>${task}</code> ${
    title === task ? undefined : title
  } <span class="${kind}">${solved} of ${counted.length}</span></summary>
<div class="scroll"><table><tr><th>model</th><th>run</th><th>result</th><th>reason</th><th>end</th><th>turns</th><th>tokens in</th><th>out</th><th>cost</th><th>time</th><th>session</th></tr>${runs.map(runRow)}</table></div></details>`;
}

function runRow(record: RunRecord): Html {
  const [kind, word] =
    record.error !== undefined
      ? ["warn", "failed"]
      : record.solved
        ? ["ok", "solved"]
        : ["bad", "not solved"];
  const refused = record.refused === 0 ? undefined : `, ${counted(record.refused, "call")} refused`;
  return html`<tr><td>${record.model}</td><td>${record.repeat}</td><td class="${kind}">${word}</td><td dir="auto">${record.reason}</td><td>${record.stop}${refused}</td><td>${record.turns}</td><td>${record.inputTokens}</td><td>${record.outputTokens}</td><td>${dollars(record.costUsd ?? undefined)}</td><td>${describeDuration(record.ms)}</td><td><code>${record.session}</code></td></tr>`;
}
