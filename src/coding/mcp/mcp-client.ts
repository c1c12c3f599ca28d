// One module for what speaks to servers, so that it is one file to load.

export { authorizationOf, logIn } from "../../extensions/mcp/login.ts";
export { connectionOpener } from "../../extensions/mcp/open-connection.ts";
export { loginStore } from "./login-store.ts";
export { proxiedFetch } from "./proxied-fetch.ts";
