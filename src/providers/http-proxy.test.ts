import { describe, expect, it } from "vitest";
import { proxyAuthorization, routeTo } from "./http-proxy.ts";

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

describe("proxyAuthorization", () => {
  it("takes user and password from the address", () => {
    expect(proxyAuthorization(new URL("http://proxy.test"))).toBeUndefined();
    expect(proxyAuthorization(new URL("http://us%40er:pa%3Ass@proxy.test"))).toBe(
      `Basic ${btoa("us@er:pa:ss")}`,
    );
  });
});
