import type { ViteUserConfig } from "vitest/config";
import { readManifest } from "./scripts/build/manifest.ts";
import { LongTestsFirst } from "./scripts/long-tests-first.ts";

const { version, engines } = readManifest(import.meta.dirname);

/** Who asks for more than usual waits for as long as it takes; else only what hangs takes so long. */
const isLong = ["NANO_AGENT_FAULTS", "NANO_AGENT_TRIALS"].some((name) => process.env[name] !== undefined);
const LIMIT_MS = isLong ? 0 : 600_000;

const config: ViteUserConfig = {
  define: {
    NANO_AGENT_VERSION: JSON.stringify(version),
    NANO_AGENT_NODE: JSON.stringify(engines.node.replace(/^[^\d]*/, "")),
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}", "test/**/*.test.ts"],
    setupFiles: ["./scripts/property-seed.ts"],
    globalSetup: ["./scripts/hermetic-environment.ts", "./scripts/build-before-tests.ts"],
    pool: "forks",
    isolate: false,
    sequence: { sequencer: LongTestsFirst },
    maxWorkers: 2,
    testTimeout: LIMIT_MS,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 300_000 } },
    passWithNoTests: false,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    reporters: ["default", "./scripts/summary-reporter.ts"],
  },
};

export default config;
