/** The parts of `@anthropic-ai/sandbox-runtime` that are used: its `SandboxManager`, or a double of it. */
export interface SandboxRuntime {
  initialize(config: SandboxRuntimeConfig): Promise<void>;
  isSupportedPlatform(): boolean;
  checkDependencies(): { readonly errors: readonly string[]; readonly warnings: readonly string[] };
  wrapWithSandboxArgv(
    command: string,
    shell: string,
    config: Partial<SandboxRuntimeConfig> | undefined,
    signal: AbortSignal | undefined,
    cwd: string,
    options: { readonly commandId: string },
  ): Promise<{ readonly argv: string[] }>;
  registerCommandNetworkLists(commandId: string, lists: { allowedDomains?: string[] }): void;
  unregisterCommandNetworkLists(commandId: string): void;
  getSandboxViolationStore(): {
    getViolationsForCommand(commandId: string): readonly { readonly line: string }[];
  };
  cleanupAfterCommand(): void;
  /** The socket of the process that leads from sandboxes to the runtime's proxy (Linux). */
  getLinuxHttpSocketPath?(): string | undefined;
  reset(): Promise<void>;
}

/** The settings of the runtime. Paths are absolute, links resolved. */
export interface SandboxRuntimeConfig {
  network: { allowedDomains: string[]; deniedDomains: string[] };
  filesystem: {
    denyRead: PathEntry[];
    allowWrite: PathEntry[];
    denyWrite: PathEntry[];
  };
}

/** A path that is taken literally, whatever characters it has. */
export interface PathEntry {
  path: string;
  literal: true;
}
