import type { Problem } from "./server-api.ts";

/** The answer of a server that refuses a request. */
export class ServerProblem extends Error {
  override readonly name = "ServerProblem";
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }

  get status(): number {
    return this.problem.status;
  }

  get code(): string {
    return this.problem.code;
  }
}
