// One host call on behalf of a reconciler. It has no caller to throw to: the error is logged and returned, and the call is retried later.
import { DriverError, type Driver } from '../../hypervisor/driver.ts'
import type { Deps } from '../deps.ts'

const TIMEOUT_MS = 20_000

/** Longer than any host call takes: after it, the holder of a claim has finished or crashed. */
export const CLAIM = '30s'

export type Ask = (driver: Driver, signal: AbortSignal) => Promise<unknown>

/** Returns the error, or null. */
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

/** The state of the host is unknown, so the next call should not follow at once. */
export const isUnreachable = ({ kind }: DriverError): boolean => kind === 'unreachable' || kind === 'aborted'

export const retryDelay = ({ retry }: DriverError): string => (retry ? '10s' : '60s')
