import { NanoAgentError } from "../core/base/errors.ts";

/**
 * The body of an answer without its `content-encoding`. Pieces come through as soon as they can be decoded; an error or an early
 * end of `source` reaches the returned stream.
 */
export async function decodedBody(
  source: NodeJS.ReadableStream,
  encoding: string,
  host: string,
): Promise<NodeJS.ReadableStream> {
  const [zlib, { pipeline }] = await Promise.all([import("node:zlib"), import("node:stream")]);
  const gentle = { flush: zlib.constants.Z_SYNC_FLUSH };
  const decoders: { readonly [name: string]: (() => NodeJS.ReadWriteStream) | undefined } = {
    gzip: () => zlib.createGunzip(gentle),
    "x-gzip": () => zlib.createGunzip(gentle),
    deflate: () => zlib.createInflate(gentle),
    br: () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  };
  const create = decoders[encoding.trim().toLowerCase()];
  if (create === undefined) {
    throw new NanoAgentError(
      "invalid_response",
      `${host} sent a body in the encoding "${encoding}", which was not asked for and cannot be read. Check the proxy or gateway in between.`,
      { details: { host, encoding } },
    );
  }
  // The callback is where pipeline puts errors; they also destroy the decoder, which is where the reader meets them.
  return pipeline(source, create(), () => undefined);
}
