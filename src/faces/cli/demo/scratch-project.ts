import { execFile } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import type { Environment } from "../../../system/env.ts";
import { diffFile } from "../../../tools/files/file-under-change.ts";

/** Files by path, with forward slashes. */
type Files = { readonly [path: string]: string };

/** The report of `node --test`. */
export interface TestReport {
  /** True when the runner ended with 0 and ran at least one test. */
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly tests: readonly { readonly name: string; readonly ok: boolean }[];
  readonly output: string;
}

/** Larger files are no work of a demo and are not compared. */
const MAX_COMPARED_BYTES = 1_000_000;
const MAX_OUTPUT_BYTES = 1_000_000;

/** A copy of a project in a temporary folder of its own. */
export class ScratchProject {
  readonly folder: string;
  /** An empty folder beside it, for settings and state: what steers must not lie where commands write. */
  readonly aside: string;
  readonly #root: string;
  readonly #before: Files;

  constructor(files: Files) {
    this.#before = files;
    this.#root = realpathSync(mkdtempSync(join(tmpdir(), "nano-agent-demo-")));
    this.folder = join(this.#root, "project");
    this.aside = join(this.#root, "aside");
    mkdirSync(this.aside);
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }

  /** The files that are not as they were, by path, each as a unified diff; new and removed ones too. */
  async changes(): Promise<ReadonlyMap<string, string>> {
    const after = this.#read();
    const changes = new Map<string, string>();
    for (const path of new Set([...Object.keys(this.#before), ...Object.keys(after)].sort())) {
      if (this.#before[path] === after[path]) continue;
      const { diff } = await diffFile(path, this.#before[path] ?? "", after[path] ?? "");
      changes.set(path, diff ?? `${path} changed\n`);
    }
    return changes;
  }

  /** Runs the tests with the `node` that is on the PATH. Resolves also when there is none. */
  test(environment: Environment, signal: AbortSignal): Promise<TestReport> {
    const options = { cwd: this.folder, env: { ...environment }, signal, maxBuffer: MAX_OUTPUT_BYTES };
    return new Promise((resolve) => {
      execFile("node", ["--test", "--test-reporter=tap"], options, (error, stdout, stderr) => {
        // Failing tests have said why.
        const why = error === null || stdout !== "" ? "" : error.message;
        resolve(readReport(stdout + stderr + why, error === null));
      });
    });
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }

  #read(): Files {
    const files: { [path: string]: string } = {};
    for (const entry of readdirSync(this.folder, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (!entry.isFile() || statSync(file).size > MAX_COMPARED_BYTES) continue;
      files[relative(this.folder, file).split(sep).join("/")] = readFileSync(file, "utf8");
    }
    return files;
  }
}

/** Reads the report that the runner writes in the TAP format. */
function readReport(output: string, isDone: boolean): TestReport {
  const tests = [...output.matchAll(/^ *(not )?ok \d+ - (.*)$/gm)].map(([, not, name = ""]) => {
    return { name: name.replace(/ # .*$/, ""), ok: not === undefined };
  });
  const figure = (name: string): number =>
    Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  const [passed, failed] = [figure("pass"), figure("fail")];
  return { ok: isDone && passed > 0 && failed === 0, passed, failed, tests, output };
}
