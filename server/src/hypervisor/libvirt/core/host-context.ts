// One libvirt host: its connections, which are re-opened when lost, and the way every part of the driver makes calls on it.
import { CancelledError, Host, type Endpoint } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log.ts'
import type { Acceleration } from '../../driver.ts'
import type { ImageSource, IsoSource } from '../../image-source.ts'
import { NO_STORAGE, type StorageSource } from '../../storage-source.ts'
import { connectDirectly, type LocalAccess } from '../../local-access.ts'
import { abortable, keyedMutex, sleep, type KeyedMutex } from './abortable.ts'
import { abortedError, toDriverError } from './errors.ts'
import { traceClient } from './trace-client.ts'

export interface HostContext {
  readonly hostId: string
  /** For calls that must run after the caller has aborted, such as clean-up. */
  readonly host: Host
  readonly images: ImageSource
  readonly isos: IsoSource | undefined
  readonly storage: StorageSource
  readonly log: Log
  /** Where the host's root directory is mounted on this machine; undefined for a remote host. */
  readonly root: string | undefined
  /** To a unix socket of this machine. */
  readonly connect: LocalAccess['connect']
  /** Runs calls on the host. A LibvirtError becomes a DriverError: `aborted` as soon as the signal aborts, `unreachable` while the host is
   *  down, `unknown_outcome` for a connection lost meanwhile. `what` completes "Could not …". After the abort the `host` passed to `work`
   *  sends nothing more, queued calls included: another process may have taken over by then. */
  call<T>(what: string, signal: AbortSignal, work: (host: Host) => Promise<T>): Promise<T>
  /** Sleeps; an abort rejects with `aborted` as in `call`. */
  pause(what: string, ms: number, signal: AbortSignal): Promise<void>
  /** One at a time per key within this process; `vm:<id>` for every change of a machine. */
  readonly exclusive: KeyedMutex
  /** Called each time the host is up again after it was down: events work again, and events in between were missed. Returns the
   *  unsubscribe function. */
  onReconnect(listener: () => void): () => void
  /** What was probed on the host or recorded from its guests, kept as long as the context. */
  readonly cache: HostCache
  /** Aborted when the driver is closed, for streams that do not use `host`. */
  readonly closing: AbortSignal
}

/** The host may come back with another kernel or configuration, so probe results are cleared at every reconnect. */
export interface HostCache {
  acceleration: Promise<{ arch: string; acceleration: Acceleration }> | undefined
  canOffload: boolean | undefined
  /** Null where all guests run as one user. */
  guestGroup: number | null | undefined
  /** Serial console recordings by VM id, the oldest first. */
  readonly recordings: Map<string, ConsoleRecording>
}

export interface ConsoleRecording {
  lines: string[]
  /** May be aborted before the console is open. */
  stop: AbortController
}

export interface HostContextOptions {
  hostId: string
  endpoint: Endpoint
  images: ImageSource
  isos?: IsoSource | undefined
  storage?: StorageSource | undefined
  log: Log
  root?: string | undefined
  connect?: LocalAccess['connect']
}

/** Calls wait this long for a host that is down before they fail: a restarting daemon is back sooner. */
const DOWN_GRACE_MS = 10_000
const RECONNECT_GUESTS_TIMEOUT_MS = 60_000

const UNPROBED = { acceleration: undefined, canOffload: undefined, guestGroup: undefined }

export function openHostContext(options: HostContextOptions): HostContext & { close(): Promise<void> } {
  const { hostId, endpoint, images, isos, storage = NO_STORAGE, log, root, connect = connectDirectly } = options
  let downMs = stopwatch()
  let wasUp = false
  const reconnectListeners = new Set<() => void>()
  const closing = new AbortController()
  const cache: HostCache = { ...UNPROBED, recordings: new Map() }
  const host = new Host({
    endpoint,
    onUp: async (up) => {
      await awaitGuestsReconnected(up)
      if (wasUp) {
        Object.assign(cache, UNPROBED)
        reconnectListeners.forEach((listener) => listener())
      }
      wasUp = true
    },
    onDown: (reason) => {
      downMs = stopwatch()
      log.warn({ hostId, err: reason }, 'libvirt connection lost')
    },
    onProblem: (error) => log.warn({ hostId, err: error }, 'libvirt connection error'),
  })
  const traced = traceClient(host, hostId)
  const exclusive = keyedMutex()

  const guarded = async <T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    if (signal.aborted) throw abortedError(what, hostId)
    try {
      return await work()
    } catch (error) {
      const isAborted = signal.aborted && (error === signal.reason || error instanceof CancelledError)
      throw isAborted ? abortedError(what, hostId) : toDriverError(error, what, hostId)
    }
  }
  return {
    hostId,
    host: traced,
    images,
    isos,
    storage,
    log,
    root,
    connect,
    cache,
    call: (what, signal, work) =>
      guarded(what, signal, async () => {
        if (!host.isUp) await abortable(host.whenUp(Math.max(1, Math.ceil(DOWN_GRACE_MS - downMs()))), signal)
        return abortable(work(traced.within(signal)), signal)
      }),
    pause: (what, ms, signal) => guarded(what, signal, () => abortable(sleep(ms, signal), signal)),
    exclusive: (key, signal, work) => guarded(`wait for ${key}`, signal, () => exclusive(key, signal, work)),
    onReconnect: (listener) => {
      const mine = (): void => listener()
      reconnectListeners.add(mine)
      return () => void reconnectListeners.delete(mine)
    },
    closing: closing.signal,
    close: () => {
      closing.abort(new Error('the driver was closed'))
      return host.close()
    },
  }
}

/** A restarted daemon lists its guests before it has reconnected to their QEMU monitors, and reports no reliable state until then. Block
 *  statistics come from QEMU itself, so this call returns only after the reconnect. */
async function awaitGuestsReconnected(host: Host): Promise<void> {
  await host.domains.getAllStats({ groups: ['block'], flags: ['active'] }, { timeoutMs: RECONNECT_GUESTS_TIMEOUT_MS })
}
