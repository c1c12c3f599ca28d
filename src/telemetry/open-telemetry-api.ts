/**
 * The part of `@opentelemetry/api` 1.x that is used, as shapes: the package is an optional peer, and its
 * types are not needed to use this one.
 */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string, version?: string): OtelTracer;
    setSpan(context: OtelContext, span: OtelSpan): OtelContext;
  };
  readonly metrics: { getMeter(name: string, version?: string): OtelMeter };
  readonly context: { active(): OtelContext };
}

/** Connects spans. */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

/** Values of attributes. */
export type OtelAttributes = { [name: string]: string | number | boolean | string[] | undefined };

/** Makes spans. */
export interface OtelTracer {
  startSpan(
    name: string,
    options: { kind?: number; attributes?: OtelAttributes; startTime?: number },
    context: OtelContext,
  ): OtelSpan;
}

/** A span in progress. */
export interface OtelSpan {
  setAttributes(attributes: OtelAttributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  addEvent(name: string, attributes?: OtelAttributes): unknown;
  end(endTime?: number): void;
}

/** Makes instruments. */
export interface OtelMeter {
  createHistogram(
    name: string,
    options: { unit: string; description: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): OtelHistogram;
}

/** Counts values by size. */
export interface OtelHistogram {
  record(value: number, attributes: OtelAttributes, context?: OtelContext): void;
}
