import { join } from "node:path";
import { checksum } from "../../src/session/record.ts";

/** Where a contender works, and the model it is to use. */
export interface BenchRoom {
  readonly home: string;
  readonly cwd: string;
  /** Of the model server, without a path. */
  readonly url: string;
}

/** A terminal program that is measured: how it is started, and what its screen says. */
export interface Contender {
  readonly name: string;
  readonly program: readonly [string, ...string[]];
  readonly args: readonly string[];
  /** Starts it with the newest session of the folder. */
  readonly resumeArgs: readonly string[];
  readonly env: (room: BenchRoom) => Readonly<Record<string, string>>;
  /** What it needs in its home folder, by path. */
  readonly files: (room: BenchRoom) => Readonly<Record<string, string>>;
  /** Stands on the screen when it waits for the first message. */
  readonly ready: string;
  /** Stands on the screen as long as a run is at work. */
  readonly busy: string;
  /** Folder in its home where sessions are kept. */
  readonly sessions: string;
  /**
   * Whether a record of its session file is what the person said first: what comes before is not repeated.
   */
  readonly isFirstMessage: (record: SessionRecord) => boolean;
  /** A record as it stands in a copy of a turn. */
  readonly copied: (record: SessionRecord, copy: TurnCopy) => SessionRecord;
}

/** A line of a session file. */
export type SessionRecord = Readonly<Record<string, unknown>>;

/** Where a copied record stands. */
export interface TurnCopy {
  readonly id: string;
  readonly parent: string;
  /** Of the line in the file, from 0. */
  readonly ordinal: number;
}

/** The contenders; others than this checkout are looked for in the folder that `bench/cli/setup.sh` fills. */
export function contendersIn(folder: string): readonly Contender[] {
  const of = (id: string, name: string): string => join(folder, "peers", id, "node_modules/.bin", name);
  const bin = join(import.meta.dirname, "../../dist/bin.mjs");
  return [
    nanoAgent([process.execPath, bin]),
    pi([process.execPath, of("pi", "pi")]),
    codex([of("codex", "codex")]),
  ];
}

function nanoAgent(program: Contender["program"]): Contender {
  return {
    name: "nano-agent",
    program,
    args: [],
    resumeArgs: ["-c"],
    env: ({ url }) => ({
      OPENAI_API_KEY: "sk-bench",
      OPENAI_BASE_URL: `${url}/v1`,
      NANO_AGENT_MODEL: "openai/gpt-5",
      // No first question about the folder.
      NANO_AGENT_PERMISSION_MODE: "default",
    }),
    files: () => ({}),
    ready: "What should nano-agent do?",
    busy: "esc stops",
    sessions: ".local/state/nano-agent/sessions",
    isFirstMessage: ({ type }) => type === "run_start",
    copied: ({ sum: _sum, ...record }, { id, parent }) => {
      const line = JSON.stringify({ ...record, id, parent });
      return { ...record, id, parent, sum: checksum(Buffer.from(line.slice(0, -1))) };
    },
  };
}

function pi(program: Contender["program"]): Contender {
  const model = ["--provider", "mock", "--model", "mock-model"];
  return {
    name: "pi",
    program,
    args: model,
    resumeArgs: [...model, "-c"],
    env: () => ({ PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" }),
    files: ({ url }) => ({
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          mock: {
            baseUrl: `${url}/v1`,
            api: "openai-completions",
            apiKey: "sk-bench",
            models: [{ id: "mock-model", contextWindow: 400_000 }],
          },
        },
      }),
    }),
    ready: "mock-model",
    busy: "Working",
    sessions: ".pi/agent/sessions",
    isFirstMessage: ({ message }) => (message as { role?: string } | undefined)?.role === "user",
    copied: (record, { id, parent }) => ({ ...record, id: id.slice(-8), parentId: parent.slice(-8) }),
  };
}

function codex(program: Contender["program"]): Contender {
  return {
    name: "codex",
    program,
    args: [],
    resumeArgs: ["resume", "--last"],
    env: ({ home }) => ({ CODEX_HOME: join(home, ".codex"), MOCK_KEY: "sk-bench" }),
    files: ({ url, cwd }) => ({
      ".codex/config.toml": [
        'model = "mock-model"',
        'model_provider = "mock"',
        "check_for_update_on_startup = false",
        "model_context_window = 400000",
        "[analytics]",
        "enabled = false",
        "[otel]",
        'exporter = "none"',
        "[model_providers.mock]",
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'wire_api = "responses"',
        'env_key = "MOCK_KEY"',
        `[projects."${cwd}"]`,
        'trust_level = "trusted"',
        "",
      ].join("\n"),
    }),
    ready: "›",
    busy: "esc to interrupt",
    sessions: ".codex/sessions",
    isFirstMessage: ({ payload }) => (payload as { type?: string } | undefined)?.type === "task_started",
    copied: (record, { ordinal }) => ({ ...record, ordinal }),
  };
}
