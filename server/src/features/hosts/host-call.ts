// One question to a host on behalf of a reconciler, which has nobody to hand an error to: it keeps it, and tries again later.
import { DriverError, type Driver } from '../../hypervisor/driver.ts'
import type { Deps } from '../deps.ts'

const TIMEOUT_MS = 20_000

/** Longer than any question takes: whoever holds a claim for this long is done or dead. */
export const CLAIM = '30s'

export type Ask = (driver: Driver, signal: AbortSignal) => Promise<unknown>

/** Answers what went wrong, or null. */
export async function callHost(
  deps: Pick<Deps, 'hypervisors' | 'log'>,
  hostId: string,
  stopping: AbortSignal,
  ask: Ask,
  timeoutMs = TIMEOUT_MS,
): Promise<DriverError | null> {
  try {
    const driver = await deps.hypervisors.get(hostId)
    await ask(driver, AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping]))
    return null
  } catch (error) {
    deps.log.info({ err: error, hostId }, 'host call failed; will retry')
    return error instanceof DriverError ? error : new DriverError('permanent', (error as Error).message, { cause: error })
  }
}

/** Nobody knows how the host is, so it makes no sense to ask it the next thing at once. */
export const isUnreachable = ({ kind }: DriverError): boolean => kind === 'unreachable' || kind === 'aborted'

export const retryDelay = ({ retry }: DriverError): string => (retry ? '10s' : '60s')
