/**
 * The part of `@opentelemetry/api` 1.x in use, as structural types: the package is an optional peer
 * dependency, and its types are not required to use this one.
 */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(name: string, version?: string): OtelTracer;
    setSpan(context: OtelContext, span: OtelSpan): OtelContext;
  };
  readonly metrics: { getMeter(name: string, version?: string): OtelMeter };
  readonly context: { active(): OtelContext };
}

/** Links spans to their parents. */
export interface OtelContext {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): OtelContext;
  deleteValue(key: symbol): OtelContext;
}

/** Attribute values. */
export type OtelAttributes = { [name: string]: string | number | boolean | string[] | undefined };

/** Creates spans. */
export interface OtelTracer {
  startSpan(
    name: string,
    options: { kind?: number; attributes?: OtelAttributes; startTime?: number },
    context: OtelContext,
  ): OtelSpan;
}

/** A started span. */
export interface OtelSpan {
  setAttributes(attributes: OtelAttributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  addEvent(name: string, attributes?: OtelAttributes): unknown;
  end(endTime?: number): void;
}

/** Creates instruments. */
export interface OtelMeter {
  createHistogram(
    name: string,
    options: { unit: string; description: string; advice?: { explicitBucketBoundaries?: number[] } },
  ): OtelHistogram;
}

/** Records values in buckets. */
export interface OtelHistogram {
  record(value: number, attributes: OtelAttributes, context?: OtelContext): void;
}
