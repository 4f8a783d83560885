// Events and their registration calls. One line per kind: registration, event number, payload.
import { int, optional, str, struct, uhyper } from '../xdr/types.ts'
import type { Fields, StructOut, Type } from '../xdr/types.ts'
import { parameters } from './parameters.ts'
import { quick } from './procedure.ts'
import { domain, named } from './structs.ts'

export const registration = {
  registerDomainEvent: quick(316, 'CONNECT_DOMAIN_EVENT_CALLBACK_REGISTER_ANY', { event: int, domain: optional(domain) }, int),
  deregisterDomainEvent: quick(317, 'CONNECT_DOMAIN_EVENT_CALLBACK_DEREGISTER_ANY', { callback: int }),
  registerNetworkEvent: quick(313, 'CONNECT_NETWORK_EVENT_REGISTER_ANY', { event: int, network: optional(named) }, int),
  deregisterNetworkEvent: quick(314, 'CONNECT_NETWORK_EVENT_DEREGISTER_ANY', { callback: int }),
  registerPoolEvent: quick(368, 'CONNECT_STORAGE_POOL_EVENT_REGISTER_ANY', { event: int, pool: optional(named) }, int),
  deregisterPoolEvent: quick(369, 'CONNECT_STORAGE_POOL_EVENT_DEREGISTER_ANY', { callback: int }),
} as const

export type EventSource = 'domain' | 'network' | 'pool' | 'connection'
export interface EventKind<Event> {
  readonly source: EventSource
  readonly event: number
  readonly number: number
  readonly name: string
  readonly layout: Type<never, Event>
}

/** Every event starts with its registration id. */
function kind<F extends Fields>(source: EventSource, event: number, number: number, name: string, fields: F): EventKind<StructOut<F>> {
  const whole = struct({ callback: int, ...fields })
  return { source, event, number, name, layout: whole as unknown as Type<never, StructOut<F>> }
}

const network = named
const pool = named
const change = { event: int, detail: int }
const blockJob = { domain, disk: str, type: int, status: int }
const ioError = { domain, path: str, alias: str, action: int, reason: str }
const threshold = { domain, disk: str, path: optional(str), threshold: uhyper, excess: uhyper }

export const eventKinds = {
  lifecycle: kind('domain', 0, 318, 'DOMAIN_EVENT_CALLBACK_LIFECYCLE', { domain, ...change }),
  reboot: kind('domain', 1, 319, 'DOMAIN_EVENT_CALLBACK_REBOOT', { domain }),
  watchdog: kind('domain', 3, 321, 'DOMAIN_EVENT_CALLBACK_WATCHDOG', { domain, action: int }),
  ioError: kind('domain', 6, 324, 'DOMAIN_EVENT_CALLBACK_IO_ERROR_REASON', ioError),
  controlError: kind('domain', 7, 325, 'DOMAIN_EVENT_CALLBACK_CONTROL_ERROR', { domain }),
  /** Names the disk by its path. */
  blockJobByPath: kind('domain', 8, 326, 'DOMAIN_EVENT_CALLBACK_BLOCK_JOB', blockJob),
  deviceRemoved: kind('domain', 15, 333, 'DOMAIN_EVENT_CALLBACK_DEVICE_REMOVED', { domain, alias: str }),
  /** Names the disk by its target, `vda`. */
  blockJob: kind('domain', 16, 339, 'DOMAIN_EVENT_BLOCK_JOB_2', blockJob),
  agent: kind('domain', 18, 348, 'DOMAIN_EVENT_CALLBACK_AGENT_LIFECYCLE', { domain, state: int, reason: int }),
  deviceAdded: kind('domain', 19, 354, 'DOMAIN_EVENT_CALLBACK_DEVICE_ADDED', { domain, alias: str }),
  migrationIteration: kind('domain', 20, 359, 'DOMAIN_EVENT_CALLBACK_MIGRATION_ITERATION', { domain, iteration: int }),
  jobCompleted: kind('domain', 21, 363, 'DOMAIN_EVENT_CALLBACK_JOB_COMPLETED', { domain, stats: parameters }),
  metadataChange: kind('domain', 23, 379, 'DOMAIN_EVENT_CALLBACK_METADATA_CHANGE', { domain, type: int, uri: optional(str) }),
  blockThreshold: kind('domain', 24, 385, 'DOMAIN_EVENT_BLOCK_THRESHOLD', threshold),
  networkLifecycle: kind('network', 0, 315, 'NETWORK_EVENT_LIFECYCLE', { network, ...change }),
  poolLifecycle: kind('pool', 0, 370, 'STORAGE_POOL_EVENT_LIFECYCLE', { pool, ...change }),
  poolRefresh: kind('pool', 1, 373, 'STORAGE_POOL_EVENT_REFRESH', { pool }),
  /** The daemon lost its own connection to the hypervisor. */
  connectionClosed: { ...kind('connection', 0, 362, 'CONNECT_EVENT_CONNECTION_CLOSED', {}), layout: struct({ reason: int }) },
} as const

export type EventName = keyof typeof eventKinds
export type EventOf<K extends EventName> = (typeof eventKinds)[K] extends EventKind<infer Event> ? Event : never
