import { describe, expect, it } from "vitest";
import { proxyError, proxyFor } from "./http-proxy.ts";

const proxy = { http: "http://proxy.test:3128", https: "proxy.test:3129" };

describe("proxyFor", () => {
  it.each([
    ["http://api.test/v1", "http://proxy.test:3128/"],
    ["https://api.test/v1", "http://proxy.test:3129/"],
    ["http://localhost:11434/v1", undefined],
    ["http://127.0.0.1:8080/v1", undefined],
    ["https://[::1]:8080/v1", undefined],
  ])("reaches %s by %s", (url, expected) => {
    expect(proxyFor(new URL(url), proxy)).toBe(expected);
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
    expect(proxyFor(new URL("https://api.test"), { ...proxy, noProxy }) === undefined).toBe(direct);
  });

  it("goes directly without a proxy, and refuses one it cannot speak to, without showing its password", () => {
    expect(proxyFor(new URL("https://api.test"), undefined)).toBe(undefined);
    expect(() => proxyFor(new URL("https://api.test"), { https: "socks5://user:secret@p.test:1" })).toThrow(
      "The proxy address socks5://p.test:1 is not an http or https address. Set it like http://proxy.example:3128.",
    );
  });
});

const TUNNEL = { code: "ERR_PROXY_TUNNEL" };
const SELF_SIGNED = { code: "DEPTH_ZERO_SELF_SIGNED_CERT" };

it.each([
  [
    { ...TUNNEL, statusCode: 407 },
    "http",
    "The proxy proxy.test:3128 refused the connection (HTTP 407). Put user and password into its address.",
  ],
  [
    { ...TUNNEL, statusCode: 503 },
    "http",
    "The proxy proxy.test:3128 refused the connection (HTTP 503). Check the proxy settings and noProxy.",
  ],
  // Bytes that are no HTTP.
  [
    { ...TUNNEL, statusCode: Number.NaN },
    "http",
    "The proxy proxy.test:3128 opened no tunnel. Check the proxy settings and noProxy.",
  ],
  [
    { code: "ECONNREFUSED", syscall: "connect" },
    "http",
    "The proxy proxy.test:3128 cannot be reached (ECONNREFUSED). Check the proxy settings and noProxy.",
  ],
  [
    { code: "ECONNRESET", syscall: "read" },
    "http",
    "The connection to api.test through the proxy proxy.test:3128 failed (ECONNRESET). Check the network connection, the proxy settings and the base URL.",
  ],
  [
    SELF_SIGNED,
    "https",
    "The certificate of the proxy proxy.test:3128, or of api.test behind it, was not accepted (DEPTH_ZERO_SELF_SIGNED_CERT). Point NODE_EXTRA_CA_CERTS to the certificate of its authority.",
  ],
  // The certificate of the target.
  [SELF_SIGNED, "http", "via http://u:p@proxy.test"],
])(
  "names the proxy, without its password, where it may be to blame: %j by %s",
  (facts, protocol, message) => {
    const error = Object.assign(new Error("via http://u:p@proxy.test"), facts);
    expect(proxyError(error, `${protocol}://u:p@proxy.test:3128/`, "https://api.test/v1").message).toBe(
      message,
    );
  },
);
