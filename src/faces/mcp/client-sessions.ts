import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import type { AgentServer } from "./agent-server.ts";

/** A client with a session, which is how the versions up to 2025-11-25 are spoken. */
export interface ClientSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly agent: AgentServer;
}

/** Many clients never say that they are gone. */
const MAX_CLIENTS = 100;

/** The clients with sessions. Where there are too many, idle ones are closed, the longest unused first. */
export class ClientSessions {
  /** The one that was used last at the end. */
  readonly #clients = new Map<string, ClientSession>();
  /** Requests that are not answered to their end, by clients. */
  readonly #open = new Map<ClientSession, number>();

  get agents(): readonly AgentServer[] {
    return [...this.#clients.values()].map(({ agent }) => agent);
  }

  add(id: string, client: ClientSession): void {
    this.#clients.set(id, client);
    for (const [other, { agent, transport }] of this.#clients) {
      if (this.#clients.size <= MAX_CLIENTS) return;
      if (other === id || !this.#isIdle(other)) continue;
      this.#clients.delete(other);
      // Nobody is there who could be told that it did not close.
      void Promise.allSettled([agent.close(), transport.close()]);
    }
  }

  /** The client of a session, which is used by a request now; its signal is aborted when that is over. */
  use(id: string, { signal }: Request): ClientSession | undefined {
    const client = this.#clients.get(id);
    if (client === undefined) return undefined;
    this.#clients.delete(id);
    this.#clients.set(id, client);
    this.#count(client, 1);
    signal.addEventListener("abort", () => this.#count(client, -1), { once: true });
    return client;
  }

  async remove(id: string): Promise<void> {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    await client?.agent.close();
  }

  #count(client: ClientSession, change: number): void {
    const open = (this.#open.get(client) ?? 0) + change;
    if (open > 0) this.#open.set(client, open);
    else this.#open.delete(client);
  }

  #isIdle(id: string): boolean {
    const client = this.#clients.get(id);
    return client !== undefined && !this.#open.has(client) && !client.agent.isAtWork();
  }
}
