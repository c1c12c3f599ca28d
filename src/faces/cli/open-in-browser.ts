import { spawn } from "node:child_process";

const OPENERS: { readonly [platform: string]: readonly [string, ...string[]] } = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

/** Opens an address in the browser of the user. `onFailure` hears why that did not work; it never throws. */
export function openInBrowser(address: string, onFailure: (reason: string) => void): void {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  child.on("error", ({ message }) =>
    onFailure(`The browser cannot be opened (${message}): open the address yourself.`),
  );
  child.unref();
}
