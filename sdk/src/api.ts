// Calls operations by their operationId through the handler chain. The resource classes are built on it.
import { apiUrl, fillPath, queryString, type PathValues, type QueryValues } from './url.ts'
import { BerthError } from './errors.ts'
import type { Pagination, Quote } from './generated/openapi.ts'
import { ROUTES } from './generated/routes.ts'
import type { OperationId, Operations } from './operations.ts'
import { sleep, type CallOptions, type ClientOptions, type Sleep } from './options.ts'
import { Pages, type PageQuery } from './pagination.ts'
import { chain, type ApiRequest, type Send } from './pipeline/handler.ts'
import { addHeaders, addIdempotencyKey } from './pipeline/headers.ts'
import { parseObject, throwErrorResponses } from './pipeline/error-response.ts'
import { retry } from './pipeline/retry.ts'
import { fetchWith, bufferBody } from './pipeline/send.ts'
import { limitAttemptTime } from './pipeline/timeout.ts'

export type Input<Id extends OperationId> = Operations[Id]['input']
/** The response data of a call that is not a dry run. */
export type Data<Id extends OperationId> = Exclude<Operations[Id]['data'], Quote>
type QuoteOf<Id extends OperationId> = Extract<Operations[Id]['data'], Quote>
export type Body<Id extends OperationId> = Input<Id> extends { body?: infer B } ? Exclude<B, undefined> : never
export type Query<Id extends OperationId> = Input<Id> extends { query?: infer Q } ? Exclude<Q, undefined> : never
type Item<Id extends OperationId> = Data<Id> extends (infer Each extends { id: string })[] ? Each : never
type PagedId = { [Id in OperationId]: Operations[Id] extends { paged: true } ? Id : never }[OperationId]
type StartedId = { [Id in OperationId]: Data<Id> extends { actionId: string } ? Id : never }[OperationId]
type PricedId = { [Id in OperationId]: Query<Id> extends { dryRun?: boolean | undefined } ? Id : never }[OperationId]

/** The response of an operation that starts an action: the resource it created, if any, and the ids to wait for. */
export type Started<T extends { actionId: string } = { actionId: string }> = T & { vmId: string }

/** A request to any path, including endpoints that this version of the package has no method for. */
export interface RawRequest {
  method: string
  /** Relative to `/api/public/v1`, for example `/vms`. */
  path: string
  query?: QueryValues | undefined
  body?: unknown
  headers?: Record<string, string>
}

interface Envelope {
  success: true
  data: unknown
  pagination?: Pagination
  nextCursor?: string | null
}

const TIMEOUT_MS = 30_000
const RETRIES = 5

export class Api {
  readonly sleep: Sleep
  readonly maxRetries: number | undefined
  readonly #address: string
  readonly #options: ClientOptions
  readonly #send: Send
  readonly #open: Send

  constructor(options: ClientOptions) {
    if (typeof options.token !== 'string' || options.token.trim() === '') throw new TypeError('token is missing. Pass an API token, vmk_…')
    this.#options = options
    this.#address = apiUrl(options.baseUrl)
    this.sleep = options.sleep ?? sleep
    this.maxRetries = options.maxRetries
    const everyAttempt = [...(options.handlers ?? []), addHeaders(options.token)]
    const send = fetchWith(options.fetch ?? ((input, init) => fetch(input, init)))
    this.#send = chain([addIdempotencyKey, retry(this.sleep), limitAttemptTime, throwErrorResponses, bufferBody, ...everyAttempt], send)
    this.#open = chain([retry(this.sleep), limitAttemptTime, throwErrorResponses, ...everyAttempt], send)
  }

  async call<Id extends OperationId>(id: Id, input: Input<Id>, options?: CallOptions): Promise<Data<Id>> {
    return (await this.#callOperation(id, input, options)).data as Data<Id>
  }

  /** Dry run: returns the price, changes nothing. */
  async quote<Id extends PricedId>(id: Id, input: Input<Id>, options?: CallOptions): Promise<QuoteOf<Id>> {
    return (await this.#callOperation(id, { ...input, query: { dryRun: true } }, options)).data as QuoteOf<Id>
  }

  /** For operations that start an action: adds the VM id, which is part of the action's URL. */
  async start<Id extends StartedId>(vmId: string, id: Id, input: Input<Id>, options?: CallOptions): Promise<Started<Data<Id>>> {
    const started = await this.call(id, input, options)
    return { ...(started as object), vmId } as Started<Data<Id>>
  }

  pages<Id extends PagedId>(id: Id, input: Input<Id>, options?: CallOptions): Pages<Item<Id>> {
    const { query, ...rest } = input as { query?: PageQuery }
    return new Pages<Item<Id>>(query ?? {}, async (page) => {
      const { data, pagination, nextCursor } = await this.#callOperation(id, { ...rest, query: page }, options)
      return { items: data as Item<Id>[], pagination: pagination!, nextCursor: nextCursor! }
    })
  }

  async request(raw: RawRequest, options?: CallOptions): Promise<Envelope> {
    const response = await this.#send(this.#toRequest(raw, options))
    const body = await parseObject<Envelope>(response)
    if (body.success !== true) throw new BerthError(`${raw.method} ${raw.path} returned a response that is not Berth's. Check baseUrl`)
    return body as Envelope
  }

  /** Returns the response before its body has been read. */
  openStream(raw: RawRequest, options?: CallOptions): Promise<Response> {
    return this.#open(this.#toRequest(raw, options))
  }

  #callOperation(id: OperationId, input: object, options?: CallOptions): Promise<Envelope> {
    const { path, query, body } = input as { path?: PathValues; query?: QueryValues; body?: unknown }
    const operation = ROUTES[id]
    return this.request({ method: operation.method, path: fillPath(operation.path, path), query, body }, options)
  }

  #toRequest({ method, path, query, body, headers }: RawRequest, options: CallOptions = {}): ApiRequest {
    return {
      method: method.toUpperCase(),
      url: `${this.#address}${path}${queryString(query)}`,
      headers: new Headers(headers),
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: options.signal,
      timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS,
      maxRetries: options.maxRetries ?? this.maxRetries ?? RETRIES,
      idempotencyKey: options.idempotencyKey,
    }
  }
}
