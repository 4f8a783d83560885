// A collector of OpenTelemetry: an HTTP server that keeps the spans it was sent.
import { answer, receiver } from './receiver.ts'

export interface Span {
  service: string
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code?: number }
}

interface Export {
  resourceSpans: { resource: Pick<Span, 'attributes'>; scopeSpans: { spans: Span[] }[] }[]
}

export const valueOf = ({ attributes }: Pick<Span, 'attributes'>, name: string): unknown =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]

export async function collector() {
  const { url, received } = await receiver(answer(200, { 'content-type': 'application/json' }, '{}'))
  const spans = (): Span[] =>
    received.flatMap(({ body }) =>
      (JSON.parse(body) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service: String(valueOf(resource, 'service.name')) }))),
      ),
    )
  return { url, received, spans }
}
