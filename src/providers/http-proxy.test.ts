import { describe, expect, it } from "vitest";
import { destination, routeTo } from "./http-proxy.ts";

const proxy = { http: "http://proxy.test:3128", https: "proxy.test:3129" };

describe("routeTo", () => {
  it.each([
    ["http://api.test/v1", "forward http://proxy.test:3128/"],
    ["https://api.test/v1", "tunnel http://proxy.test:3129/"],
    ["http://localhost:11434/v1", "direct"],
    ["http://127.0.0.1:8080/v1", "direct"],
    ["https://[::1]:8080/v1", "direct"],
  ])("reaches %s by %s", (url, expected) => {
    const route = routeTo(new URL(url), proxy);
    expect(route.type === "direct" ? "direct" : `${route.type} ${route.proxy.href}`).toBe(expected);
  });

  it.each([
    ["api.test", true],
    [".test", true],
    ["*.test", true],
    ["other.test, API.TEST", true],
    ["other.test api.test:443", true],
    ["api.test:8443", false],
    ["pi.test", false],
    ["*", true],
    ["", false],
    ["api.*", true],
    ["api.test.", true],
  ])("with noProxy %j goes directly: %s", (noProxy, direct) => {
    expect(routeTo(new URL("https://api.test"), { ...proxy, noProxy }).type === "direct").toBe(direct);
  });

  it("goes directly without a proxy, and refuses one it cannot speak to, without showing its password", () => {
    expect(routeTo(new URL("https://api.test"), undefined)).toEqual({ type: "direct" });
    expect(() => routeTo(new URL("https://api.test"), { https: "socks5://user:secret@p.test:1" })).toThrow(
      "The proxy address socks5://p.test:1 is not an http or https address. Set it like http://proxy.example:3128.",
    );
  });
});

describe("destination", () => {
  const url = new URL("http://[2001:db8::1]:8080/v1?a=b");

  it("is the host itself, unless a proxy passes the request on", () => {
    const there = { host: "2001:db8::1", port: "8080", path: "/v1?a=b" };
    const tunnel = { type: "tunnel", proxy: new URL("http://proxy.test") } as const;
    expect([destination(url, { type: "direct" }), destination(url, tunnel)]).toEqual([there, there]);
  });

  it("names the whole address to a proxy, with user and password from the proxy's own", () => {
    const routes = ["http://[::2]", "http://us%40er:pa%3Ass@proxy.test:3128"].map((address) =>
      destination(url, { type: "forward", proxy: new URL(address) }),
    );
    expect(routes).toEqual([
      { host: "::2", port: 80, path: url.href, headers: { host: url.host } },
      {
        host: "proxy.test",
        port: "3128",
        path: url.href,
        headers: { host: url.host, "proxy-authorization": `Basic ${btoa("us@er:pa:ss")}` },
      },
    ]);
  });
});
