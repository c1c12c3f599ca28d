import { counted } from "../core/base/text.ts";
import { defineTool, type Tool, type ToolResult } from "../core/tool/tool.ts";
import { errorResult } from "../core/tool/tool-output.ts";
import type { ProcessInfo } from "./shell/process-table.ts";
import { describeDuration, describeExit, listProcesses, outputLines, shorten } from "./shell/report.ts";
import type { Job, ShellSession } from "./shell/shell-session.ts";

const ABORT_GRACE_MS = 7000;

export interface JobInput {
  readonly action: "list" | "output" | "kill";
  readonly id?: string;
}

/** The `job` tool: commands that run in the background, and what finished commands left running. */
export function createJobTool(session: ShellSession): Tool {
  return defineTool({
    name: "job",
    description: "Background commands: list them, show new output, kill one.",
    parameters: {
      type: "object",
      properties: { action: { type: "string", enum: ["list", "output", "kill"] }, id: { type: "string" } },
      required: ["action"],
    },
    access: "none",
    changesFiles: false,
    timeoutMs: 0,
    abortGraceMs: ABORT_GRACE_MS,
    execute: (input: JobInput) => runJob(session, input),
  });
}

async function runJob(session: ShellSession, { action, id }: JobInput): Promise<ToolResult> {
  if (action === "list") return listJobs(session);
  if (id === undefined) return errorResult(`action "${action}" needs an id. ${knownJobs(session)}`);
  const job = session.jobs.get(id);
  if (job === undefined) return errorResult(`There is no job ${JSON.stringify(id)}. ${knownJobs(session)}`);
  return action === "output" ? showOutput(session, job) : killJob(session, job);
}

function knownJobs(session: ShellSession): string {
  const ids = session.jobs.all().map((job) => job.id);
  return ids.length === 0 ? "No command runs in the background." : `Jobs: ${ids.join(", ")}.`;
}

async function listJobs(session: ShellSession): Promise<ToolResult> {
  const jobs = session.jobs.all();
  if (jobs.length === 0) return { content: "No jobs.", title: "0 jobs" };
  const lines = await Promise.all(
    jobs.map(async (job) => {
      const processes = await job.running.process.running();
      return `${job.id}: ${jobState(job, processes)}: ${shorten(job.running.command)}`;
    }),
  );
  return { content: lines.join("\n"), title: counted(jobs.length, "job") };
}

async function showOutput(session: ShellSession, job: Job): Promise<ToolResult> {
  const processes = await job.running.process.running();
  const output = await job.running.look();
  const state = jobState(job, processes);
  const lines = [`[${job.id}: ${state}]`];
  if (job.running.exit !== undefined) lines.push(...(await session.notes(job.running, output.text)));
  if (job.running.exit !== undefined && processes.length > 0) lines.push(listProcesses(processes));
  return {
    content: outputLines(output, "(no new output)") + lines.join("\n"),
    title: state,
    metadata: jobFacts(job, processes),
  };
}

async function killJob(session: ShellSession, job: Job): Promise<ToolResult> {
  const before = await job.running.process.running();
  const left = await job.running.process.end(session.graceMs);
  const output = await job.running.look();
  const done = before.length === 0 ? "had ended already" : "ended";
  const state = left.length === 0 ? done : `could not be ended:\n${listProcesses(left)}`;
  return {
    content: `${outputLines(output, "(no new output)")}[${job.id}: ${state}]`,
    isError: left.length > 0,
    title: done,
    metadata: jobFacts(job, left),
  };
}

function jobState(job: Job, processes: readonly ProcessInfo[]): string {
  const { exit, durationMs } = job.running;
  if (exit === undefined) return `running for ${describeDuration(durationMs)}`;
  const ended = `${describeExit(exit)} after ${describeDuration(durationMs)}`;
  if (processes.length === 0) return ended;
  return `${ended}, ${processes.length} of its processes still running`;
}

function jobFacts(job: Job, processes: readonly ProcessInfo[]): NonNullable<ToolResult["metadata"]> {
  const { exit } = job.running;
  return {
    jobId: job.id,
    ...(exit !== undefined && { exitCode: exit.code, signal: exit.signal }),
    processes: processes.map(({ pid, command }) => ({ pid, command })),
  };
}
