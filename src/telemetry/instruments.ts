import type { OtelHistogram, OtelMeter } from "./open-telemetry-api.ts";

export interface Instruments {
  readonly duration: OtelHistogram;
  readonly tokens: OtelHistogram;
}

export function instruments(meter: OtelMeter): Instruments {
  return {
    duration: meter.createHistogram("gen_ai.client.operation.duration", {
      unit: "s",
      description: "Duration of a model request.",
      advice: {
        explicitBucketBoundaries: [
          0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
        ],
      },
    }),
    tokens: meter.createHistogram("gen_ai.client.token.usage", {
      unit: "{token}",
      description: "Input and output tokens of a model request.",
      advice: {
        explicitBucketBoundaries: [
          1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
          67_108_864,
        ],
      },
    }),
  };
}
