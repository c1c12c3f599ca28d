import { expect, test } from "vitest";
import type { SandboxRuntime, SandboxRuntimeConfig } from "./sandbox-runtime.ts";
import { SharedRuntime } from "./shared-runtime.ts";

interface SteppedRuntime extends Omit<SandboxRuntime, "initialize"> {
  initialize: SandboxRuntime["initialize"];
  readonly log: string[];
  readonly configs: SandboxRuntimeConfig[];
}

/** A runtime whose steps take a while, and that tells when each begins and ends. */
function steppedRuntime({ fails = 0 } = {}): SteppedRuntime {
  const log: string[] = [];
  const configs: SandboxRuntimeConfig[] = [];
  let failures = fails;
  const step = async (name: string): Promise<void> => {
    log.push(name);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    log.push(`${name} done`);
  };
  return {
    log,
    configs,
    initialize: async (config) => {
      configs.push(config);
      await step("start");
      if (failures-- > 0) throw new Error("no port is free");
    },
    reset: () => step("stop"),
    isSupportedPlatform: () => true,
    checkDependencies: () => ({ errors: [], warnings: [] }),
    wrapWithSandboxArgv: async () => ({ argv: [] }),
    registerCommandNetworkLists: () => undefined,
    unregisterCommandNetworkLists: () => undefined,
    getSandboxViolationStore: () => ({ getViolationsForCommand: () => [] }),
    cleanupAfterCommand: () => undefined,
  };
}

const START = ["start", "start done"];
const STOP = ["stop", "stop done"];

test("several start it one after the other, with limits that allow nothing, and the last one stops it", async () => {
  const runtime = steppedRuntime();
  const shared = SharedRuntime.of(runtime);
  await Promise.all([shared.join(), shared.join()]);
  await shared.leave();
  expect(runtime.log).toEqual([...START, ...START]);
  await shared.leave();
  expect(runtime.log).toEqual([...START, ...START, ...STOP]);
  const nothing = {
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [], denyWrite: [] },
  };
  expect(runtime.configs).toEqual([nothing, nothing]);
});

test("who comes while the last one leaves finds it running", async () => {
  const runtime = steppedRuntime();
  const shared = SharedRuntime.of(runtime);
  await shared.join();
  await Promise.all([shared.leave(), shared.join()]);
  expect(runtime.log).toEqual([...START, ...START]);
  const leaving = shared.leave();
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([leaving, shared.join()]);
  expect(runtime.log).toEqual([...START, ...START, ...STOP, ...START]);
});

test("who could not start it counts no more, and keeps nobody else from it", async () => {
  const runtime = steppedRuntime({ fails: 1 });
  const shared = SharedRuntime.of(runtime);
  const [first, second] = await Promise.allSettled([shared.join(), shared.join()]);
  expect([first.status, second.status]).toEqual(["rejected", "fulfilled"]);
  await shared.leave();
  expect(runtime.log).toEqual([...START, ...START, ...STOP]);
});

test("who leaves while others stay waits for nobody", async () => {
  const runtime = steppedRuntime();
  const shared = SharedRuntime.of(runtime);
  await shared.join();
  runtime.initialize = () => new Promise(() => undefined);
  void shared.join();
  await shared.leave();
  expect(runtime.log).toEqual(START);
});
