// One module for what serves, so that it is one file to load.
export { createAgentServer } from "./agent-server.ts";
export { serveHttp } from "./serve-http.ts";
export { serveStdio } from "./serve-stdio.ts";
