// What every part of the driver works with: one host, reached over connections that come back, and the way calls are made on it.
import { Host, WithdrawnError, type Endpoint } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import type { Log } from '../../../kernel/log.ts'
import { abortedError, toDriverError } from './errors.ts'
import type { ImageSource } from '../../image-source.ts'
import { abortable, keyedMutex } from './abortable.ts'

export interface HostContext {
  readonly hostId: string
  /** For what must be done although the caller has left, such as cleaning up. */
  readonly host: Host
  readonly images: ImageSource
  readonly log: Log
  /** Where the host's files are seen from here; undefined for another machine. */
  readonly root: string | undefined
  /** Runs calls on the host: LibvirtError becomes DriverError, the abort wins over a slow answer (`aborted`), a host that is away is
   *  `unreachable`, a cut connection `unknown_outcome`. `what` completes "Could not …". After an abort nothing more is sent to the host
   *  that `work` is given, nor what waits its turn: somebody else may have taken over by then. */
  call<T>(what: string, signal: AbortSignal, work: (host: Host) => Promise<T>): Promise<T>
  /** One at a time per key within this process; `vm:<id>` for whatever changes a machine. */
  exclusive<T>(key: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>
  /** Whenever the host is back after it was lost: events flow again, and those in between were missed. The answer ends it. */
  onReconnect(listener: () => void): () => void
  /** Aborted when the driver is closed, for what does not go over `host`. */
  readonly closing: AbortSignal
}

export interface SessionOptions {
  hostId: string
  endpoint: Endpoint
  images: ImageSource
  log: Log
  root?: string | undefined
}

/** For so long a host may be away before calls fail at once: a daemon that restarts is back sooner. */
const AWAY_MS = 10_000
const ADOPTION_MS = 60_000

export function openSession({ hostId, endpoint, images, log, root }: SessionOptions): HostContext & { close(): Promise<void> } {
  let awayMs = stopwatch()
  let wasUp = false
  const backListeners = new Set<() => void>()
  const closing = new AbortController()
  const host = new Host({
    endpoint,
    onUp: async (up) => {
      await awaitGuestsReconnected(up)
      if (wasUp) backListeners.forEach((listener) => listener())
      wasUp = true
    },
    onDown: (reason) => {
      awayMs = stopwatch()
      log.warn({ hostId, err: reason }, 'host lost')
    },
    onProblem: (error) => log.warn({ hostId, err: error }, 'host'),
  })
  const alone = keyedMutex()

  const guarded = async <T>(what: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    if (signal.aborted) throw abortedError(what, hostId)
    try {
      return await work()
    } catch (error) {
      const isAborted = signal.aborted && (error === signal.reason || error instanceof WithdrawnError)
      throw isAborted ? abortedError(what, hostId) : toDriverError(error, what, hostId)
    }
  }
  return {
    hostId,
    host,
    images,
    log,
    root,
    call: (what, signal, work) =>
      guarded(what, signal, async () => {
        if (!host.isUp) await abortable(host.whenUp(Math.max(1, Math.ceil(AWAY_MS - awayMs()))), signal)
        return abortable(work(host.within(signal)), signal)
      }),
    exclusive: (key, signal, work) => guarded(`wait for ${key}`, signal, () => alone(key, signal, work)),
    onReconnect: (listener) => {
      const mine = (): void => listener()
      backListeners.add(mine)
      return () => void backListeners.delete(mine)
    },
    closing: closing.signal,
    close: () => {
      closing.abort(new Error('the driver was closed'))
      return host.close()
    },
  }
}

/** A daemon that was restarted lists its guests before it has them in hand again, and until then does not know whether they live. Block
 *  statistics are answered from the guest itself, so that they come when the daemon has it. */
async function awaitGuestsReconnected(host: Host): Promise<void> {
  await host.domains.getAllStats({ groups: ['block'], flags: ['active'] }, { timeoutMs: ADOPTION_MS })
}
