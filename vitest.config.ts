import type { ViteUserConfig } from "vitest/config";
import { readManifest } from "./scripts/build/manifest.ts";

const { version, engines } = readManifest(import.meta.dirname);

const config: ViteUserConfig = {
  define: {
    NANO_AGENT_VERSION: JSON.stringify(version),
    NANO_AGENT_NODE: JSON.stringify(engines.node.replace(/^[^\d]*/, "")),
  },
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["./scripts/property-seed.ts"],
    globalSetup: ["./scripts/hermetic-environment.ts", "./scripts/build-before-tests.ts"],
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 300_000,
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
