// Traces of what a process does, from a request to the calls of hosts that follow from it. Off unless a collector is configured: then nothing
// of OpenTelemetry is loaded, and every function here only does its work. Attributes are ids and names of ours, never what a customer or a
// host wrote: a collector is read by more people than the database.
import type { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Span, SpanKind } from '@opentelemetry/api'

type Kind = keyof typeof SpanKind

interface Begun {
  span: Span
  context: Context
}

export interface Tracer {
  current: AsyncLocalStorage<Context>
  /** The first of a new trace where there is no parent. `since`: it has begun before. */
  start(name: string, kind: Kind, attributes: Attributes, parent: Context | undefined, since?: Date): Begun
  end(span: Span, error?: unknown): void
  /** The W3C's `traceparent`. */
  format(context: Context): string
  parse(parent: string): Context
}

let tracer: Tracer | null = null

/** Once for a process, by what starts it. */
export const useTracer = (used: Tracer | null): void => void (tracer = used)

export const isTracing = (): boolean => tracer !== null

/** Runs `work` as a span of the trace under way. Where there is none, as in a loop that asks each host every few seconds, it makes none. */
export function span<T>(name: string, attributes: Attributes, work: () => Promise<T>): Promise<T> {
  const parent = tracer?.current.getStore()
  return parent ? inSpan(tracer!, tracer!.start(name, 'CLIENT', attributes, parent), work) : work()
}

/** The same, and begins a trace where there is none. `parent`: the trace that goes on, as `traceParent` returned it in another process. */
export function trace<T>(
  name: string,
  kind: Kind,
  attributes: Attributes,
  parent: string | null | undefined,
  work: () => Promise<T>,
): Promise<T> {
  if (!tracer) return work()
  return inSpan(tracer, tracer.start(name, kind, attributes, parent ? tracer.parse(parent) : tracer.current.getStore()), work)
}

async function inSpan<T>(used: Tracer, begun: Begun, work: () => Promise<T>): Promise<T> {
  try {
    const result = await used.current.run(begun.context, work)
    used.end(begun.span)
    return result
  } catch (error) {
    used.end(begun.span, error)
    throw error
  }
}

/** A trace that callbacks go on with. */
export interface OpenTrace {
  parent: string
  enter(work: () => void): void
  end(attributes: Attributes, error?: unknown): void
}

/** Null while traces are off. */
export function openTrace(name: string, kind: Kind, attributes: Attributes, since: Date): OpenTrace | null {
  if (!tracer) return null
  const used = tracer
  const { span: own, context } = used.start(name, kind, attributes, undefined, since)
  return {
    parent: used.format(context),
    enter: (work) => used.current.run(context, work),
    end: (more, error) => used.end(own.setAttributes(more), error),
  }
}

/** To be stored with what goes on elsewhere. */
export function traceParent(): string | null {
  const context = tracer?.current.getStore()
  return context ? tracer!.format(context) : null
}

const SAMPLED = '01'

/** Labels of the exemplar of a measured duration: the trace, where it is exported. */
export function exemplarLabels(parent: string | null): { exemplarLabels?: object } {
  const [, id, , flags] = parent?.split('-') ?? []
  return id && flags === SAMPLED ? { exemplarLabels: { trace_id: id } } : {}
}

/** The same object, whose methods that return promises are spans of the trace under way. */
export function traceCalls<T extends object>(target: T, prefix: string, attributes: Attributes): T {
  if (!tracer) return target
  const used = tracer
  const wrap =
    (name: string, method: Function) =>
    (...args: unknown[]): unknown => {
      const call = (): unknown => Reflect.apply(method, target, args)
      const parent = used.current.getStore()
      if (!parent) return call()
      const { span: own, context } = used.start(`${prefix} ${name}`, 'CLIENT', attributes, parent)
      const result = used.current.run(context, call)
      // Anything else, such as a listing, makes no span: one that does not end is not exported.
      return result instanceof Promise ? inSpan(used, { span: own, context }, () => result as Promise<unknown>) : result
    }
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' && typeof name === 'string' ? wrap(name, value) : value
    },
  })
}
