// One call to a host, or to the network controller of a region, on behalf of a reconciler. It has no caller to throw to: the error is logged
// and returned, and the call is retried later.
import { DriverError, type Driver } from '../../hypervisor/driver.ts'
import type { NetworkController } from '../../hypervisor/network-controller.ts'
import type { Deps } from '../deps.ts'

const TIMEOUT_MS = 20_000

/** Longer than any such call takes: after it, the holder of a claim has finished or crashed. */
export const CLAIM = '30s'

/** Returns the error, or null. */
export const callHost = (
  { hypervisors, log }: Pick<Deps, 'hypervisors' | 'log'>,
  hostId: string,
  stopping: AbortSignal,
  ask: (driver: Driver, signal: AbortSignal) => Promise<unknown>,
  timeoutMs = TIMEOUT_MS,
): Promise<DriverError | null> =>
  settled(
    async (signal) => ask(await hypervisors.get(hostId), signal),
    stopping,
    timeoutMs,
    (err) => log.info({ err, hostId }, 'host call failed; will retry'),
  )

/** Returns the error, or null. */
export const callController = (
  { networkControllers, log }: Pick<Deps, 'networkControllers' | 'log'>,
  regionId: string,
  stopping: AbortSignal,
  ask: (controller: NetworkController, signal: AbortSignal) => Promise<unknown>,
): Promise<DriverError | null> =>
  settled(
    async (signal) => ask(await networkControllers.get(regionId), signal),
    stopping,
    TIMEOUT_MS,
    (err) => log.info({ err, regionId }, 'network controller call failed; will retry'),
  )

async function settled(
  call: (signal: AbortSignal) => Promise<unknown>,
  stopping: AbortSignal,
  timeoutMs: number,
  onError: (error: unknown) => void,
): Promise<DriverError | null> {
  try {
    await call(AbortSignal.any([AbortSignal.timeout(timeoutMs), stopping]))
    return null
  } catch (error) {
    onError(error)
    return error instanceof DriverError ? error : new DriverError('permanent', (error as Error).message, { cause: error })
  }
}

/** The state of the host or controller is unknown, so the next call should not follow at once. */
export const isUnreachable = ({ kind }: DriverError): boolean => kind === 'unreachable' || kind === 'aborted'

export const retryDelay = ({ retry }: DriverError): string => (retry ? '10s' : '60s')
