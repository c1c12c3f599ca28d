import type { HttpServer, McpServerDefinition } from "./server-definition.ts";

/** Only the name of a listed tool can be relied on. */
export interface ListedTool {
  readonly name: string;
  readonly [field: string]: unknown;
}

export interface ListedPrompt {
  readonly name: string;
  readonly description?: string;
  readonly arguments: readonly { readonly name: string; readonly required: boolean }[];
}

export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (line: string) => void;
}

/** Every request rejects when the connection breaks; none is sent twice. */
export interface Connection {
  readonly callTool: (name: string, input: object, options: CallOptions) => Promise<unknown>;
  readonly listTools: () => Promise<readonly ListedTool[]>;
  /** Empty if the server has no prompts; the same for resources. */
  readonly listPrompts: () => Promise<readonly ListedPrompt[]>;
  readonly getPrompt: (
    name: string,
    args: { readonly [name: string]: string },
    signal?: AbortSignal,
  ) => Promise<unknown>;
  readonly listResources: () => Promise<readonly ListedResource[]>;
  readonly readResource: (uri: string, signal?: AbortSignal) => Promise<unknown>;
  /** Resolves with the reason once the connection has ended. Never rejects. */
  readonly closed: Promise<string>;
  /** Ends the connection and the process behind it. Never rejects. */
  readonly close: () => Promise<void>;
  /** Ends it immediately, for use right before this process exits. */
  readonly killNow: () => void;
}

/** Absent members are refused when a server requests them. */
export interface McpHost {
  readonly roots: readonly string[];
  /** Variables that server processes get in addition to their own. */
  readonly environment: () => { readonly [name: string]: string };
  readonly elicit?: Elicit | undefined;
  readonly sample?: Sample | undefined;
  readonly authorization?: ((server: HttpServer) => Authorization) | undefined;
}

/** A server's question to the person: a form whose fields a JSON Schema describes, or a page to open. */
export interface Elicitation {
  readonly server: string;
  readonly message: string;
  readonly schema?: { readonly [key: string]: unknown };
  readonly url?: string;
}

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content?: { readonly [field: string]: unknown } }
  | { readonly action: "decline" | "cancel" };

export type Elicit = (question: Elicitation, signal: AbortSignal) => Promise<ElicitationAnswer>;

export interface SamplingRequest {
  readonly server: string;
  readonly system?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly maxOutputTokens: number;
}

export type Sample = (
  request: SamplingRequest,
  signal: AbortSignal,
) => Promise<{ readonly text: string; readonly model: string }>;

export interface Authorization {
  /** A valid token, renewed if due; `undefined` if nobody has logged in. */
  readonly token: () => Promise<string | undefined>;
  /** Called when the server refused `token`: returns another one, or `undefined` if a new login is needed. */
  readonly renew: (token: string | undefined) => Promise<string | undefined>;
  /** Makes the next login also request these scopes. */
  readonly requestScope: (scope: string) => Promise<void>;
}

/** Why a connection could not be opened or was lost; the server's next state depends on its kind. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  /** `login`: a login is needed. `session`: unknown to the server, so no call was made. `broken`: else. */
  readonly kind: "login" | "session" | "broken";

  constructor(message: string, kind: ConnectionError["kind"] = "broken") {
    super(message);
    this.kind = kind;
  }
}

export type WatchedList = "tools" | "prompts";

export interface ConnectionEvents {
  readonly onChanged: (list: WatchedList) => void;
}

/** Opens a connection. Rejects with a {@link ConnectionError} or on abort, leaving nothing running. */
export type OpenConnection = (
  server: McpServerDefinition,
  host: McpHost,
  options: ConnectionEvents & { readonly signal: AbortSignal },
) => Promise<Connection>;
