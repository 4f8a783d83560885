// OpenTelemetry's SDK, which exports traces to a collector by OTLP over HTTP. Imported only where a collector is configured.
import { AsyncLocalStorage } from 'node:async_hooks'
import { hostname } from 'node:os'
import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags, type Context } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, ParentBasedSampler, TracerProvider, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace'
import { rateLimitedWarn, type Log } from './log.ts'
import { useTracer } from './tracing.ts'
import { VERSION } from './version.ts'

export interface OtlpOptions {
  /** Of the collector, without `/v1/traces`. */
  url: string
  headers: Record<string, string>
  /** Of the traces that begin here; those of another process go on as it has decided. */
  percent: number
  /** What the process is, `api` or `worker`. */
  role: string
  log: Log
}

/** Traces this process from now on. Returns how to end it, when what is left is exported. */
export function startTracing({ url, headers, percent, role, log }: OtlpOptions): () => Promise<void> {
  const warn = rateLimitedWarn(log, 'exporting traces failed')
  const report = (message: string): void => warn(new Error(message))
  const quiet = (): void => {}
  diag.setLogger({ error: report, warn: report, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.WARN)
  const exporter = new OTLPTraceExporter({ url: `${url.replace(/\/$/, '')}/v1/traces`, headers, timeoutMillis: 5_000 })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': `berth-${role}`,
      'service.version': VERSION,
      'service.instance.id': `${hostname()}:${process.pid}`,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(percent / 100) }),
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000 })],
  })
  const tracer = provider.getTracer('berth', VERSION)
  useTracer({
    current: new AsyncLocalStorage<Context>(),
    start(name, kind, attributes, parent = ROOT_CONTEXT, since) {
      const span = tracer.startSpan(name, { kind: SpanKind[kind], attributes, ...(since && { startTime: since }) }, parent)
      return { span, context: trace.setSpan(parent, span) }
    },
    end(span, error) {
      // Its message may quote a customer or a host.
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', kindOf(error))
      span.end()
    },
    format(context) {
      const { traceId, spanId, traceFlags } = trace.getSpanContext(context)!
      return `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`
    },
    parse(parent) {
      const [, traceId = '', spanId = '', flags] = parent.split('-')
      return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number(flags), isRemote: true })
    },
  })
  return async () => {
    useTracer(null)
    await provider.shutdown().catch(warn) // the process stops all the same
    diag.disable()
  }
}

/** A code of ours or of the system, else the class. */
function kindOf(error: unknown): string {
  const { kind, code, name } = error as { kind?: unknown; code?: unknown; name?: unknown }
  return ([kind, code, name].find((each) => typeof each === 'string' && /^\w{1,40}$/.test(each)) as string) ?? 'Error'
}
