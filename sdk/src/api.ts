// Calls operations by their names in the OpenAPI document, through the chain of handlers. Resources are written with it.
import { apiAddress, fillPath, queryString, type PathValues, type QueryValues } from './address.ts'
import { BerthError } from './errors.ts'
import { OPERATIONS, type Operations } from './generated/operations.ts'
import type { Pagination, Quote } from './generated/schemas.ts'
import { sleep, type CallOptions, type ClientOptions, type Sleep } from './options.ts'
import { Pages, type PageQuery } from './pages.ts'
import { chain, type ApiRequest, type Send } from './pipeline/handler.ts'
import { identify, nameWrites } from './pipeline/headers.ts'
import { objectOf, throwRefusals } from './pipeline/refusals.ts'
import { retry } from './pipeline/retry.ts'
import { sender, whole } from './pipeline/send.ts'
import { limitTime } from './pipeline/timeout.ts'

export type OperationId = keyof Operations
export type Input<Id extends OperationId> = Operations[Id]['input']
/** What a call answers when it is meant, and not only asked what it would cost. */
export type Data<Id extends OperationId> = Exclude<Operations[Id]['data'], Quote>
export type Body<Id extends OperationId> = Input<Id> extends { body?: infer B } ? Exclude<B, undefined> : never
export type Query<Id extends OperationId> = Input<Id> extends { query?: infer Q } ? Exclude<Q, undefined> : never
type Item<Id extends OperationId> = Data<Id> extends (infer Each extends { id: string })[] ? Each : never
type PagedId = { [Id in OperationId]: Operations[Id] extends { paged: true } ? Id : never }[OperationId]
type StartedId = { [Id in OperationId]: Data<Id> extends { actionId: string } ? Id : never }[OperationId]
type PricedId = { [Id in OperationId]: Query<Id> extends { dryRun?: boolean | undefined } ? Id : never }[OperationId]

/** What an operation that takes its time answers: what it made, if anything, and the action to wait for. */
export type Started<T extends { actionId: string } = { actionId: string }> = T & { vmId: string }

/** A call of anything, also of what this version of the package does not know yet. */
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
    if (typeof options.token !== 'string' || options.token.trim() === '') throw new TypeError('token is missing: give an API token, vmk_…')
    this.#options = options
    this.#address = apiAddress(options.baseUrl)
    this.sleep = options.sleep ?? sleep
    this.maxRetries = options.maxRetries
    const everyAttempt = [...(options.handlers ?? []), identify(options.token)]
    const send = sender(options.fetch ?? ((input, init) => fetch(input, init)))
    this.#send = chain([nameWrites, retry(this.sleep), limitTime, throwRefusals, whole, ...everyAttempt], send)
    this.#open = chain([retry(this.sleep), limitTime, throwRefusals, ...everyAttempt], send)
  }

  async call<Id extends OperationId>(id: Id, input: Input<Id>, options?: CallOptions): Promise<Data<Id>> {
    return (await this.#ask(id, input, options)).data as Data<Id>
  }

  /** What a call would cost. Nothing is changed. */
  async quote<Id extends PricedId>(id: Id, input: Input<Id>, options?: CallOptions): Promise<Quote> {
    return (await this.#ask(id, { ...input, query: { dryRun: true } }, options)).data as Quote
  }

  /** For what takes its time: adds the VM's id, without which its action cannot be asked for. */
  async start<Id extends StartedId>(vmId: string, id: Id, input: Input<Id>, options?: CallOptions): Promise<Started<Data<Id>>> {
    const started: Data<Id> = await this.call(id, input, options)
    return { ...started, vmId }
  }

  pages<Id extends PagedId>(id: Id, input: Input<Id>, options?: CallOptions): Pages<Item<Id>> {
    const { query, ...rest } = input as { query?: PageQuery }
    return new Pages<Item<Id>>(query ?? {}, async (page) => {
      const { data, pagination } = await this.#ask(id, { ...rest, query: page }, options)
      return { items: data as Item<Id>[], pagination: pagination! }
    })
  }

  async request(raw: RawRequest, options?: CallOptions): Promise<Envelope> {
    const response = await this.#send(this.#toRequest(raw, options))
    const body = await objectOf<Envelope>(response)
    if (body.success !== true) throw new BerthError(`${raw.method} ${raw.path} was answered, but not by Berth: is baseUrl right?`)
    return body as Envelope
  }

  /** An answer whose body is still to come. */
  openStream(raw: RawRequest, options?: CallOptions): Promise<Response> {
    return this.#open(this.#toRequest(raw, options))
  }

  #ask(id: OperationId, input: object, options?: CallOptions): Promise<Envelope> {
    const { path, query, body } = input as { path?: PathValues; query?: QueryValues; body?: unknown }
    const operation = OPERATIONS[id]
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
