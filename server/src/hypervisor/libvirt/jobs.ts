// The one backup job a domain can have at a time: what it writes, how it ended, and how to stop it.
import { ErrorCode, hasCode, JobType, type Domain, type Host } from '@berth/libvirt'
import { DriverError } from '../driver.ts'
import { undefinedIfNotFound } from './errors.ts'
import type { HostContext } from './session.ts'
import { pause } from './waiting.ts'
import { readXml } from './xml.ts'

/** The path the running job writes to; undefined when there is none. */
async function targetOf(host: Host, domain: Domain): Promise<string | undefined> {
  const xml = await undefinedIfNotFound(host.backups.getXml({ domain })).catch((error: unknown) => {
    if (hasCode(error, ErrorCode.noBackup, ErrorCode.operationInvalid)) return undefined
    throw error
  })
  return xml === undefined ? undefined : readXml(xml).find('disks/disk/target')?.attributes['file']
}

const POLL_MS = 100

/** Whether the job that wrote there did it all. False as well when somebody stopped it. */
export async function awaitJob({ call }: HostContext, domain: Domain, path: string, signal: AbortSignal): Promise<boolean> {
  while ((await call(`watch the copy of ${domain.name}`, signal, (host) => targetOf(host, domain))) === path)
    await call(`wait for the copy of ${domain.name}`, signal, () => pause(POLL_MS, signal))
  const ended = await call(`ask how the copy of ${domain.name} ended`, signal, (host) =>
    undefinedIfNotFound(host.domains.getJobStats({ domain, flags: ['completed', 'keepCompleted'] })),
  )
  if (ended?.type === JobType.completed) return true
  const said = String(ended?.parameters['errmsg'] ?? '')
  if (/no space left/i.test(said)) throw new DriverError('no_space', `The copy of ${domain.name} did not fit: ${said}`)
  if (ended?.type === JobType.failed) throw new DriverError('transient', `The copy of ${domain.name} failed: ${said}`)
  return false
}

export const hasJob = async ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  (await call(`watch the copy of ${domain.name}`, signal, (host) => targetOf(host, domain))) !== undefined

/** Until no job runs that could be in the way of another. */
export async function awaitNoJob(context: HostContext, domain: Domain, signal: AbortSignal): Promise<void> {
  while (await hasJob(context, domain, signal))
    await context.call(`wait for the copy of ${domain.name}`, signal, () => pause(POLL_MS, signal))
}

/** Whoever waits for that job sees it end. Jobs that write elsewhere go on. */
export async function stopJob(context: HostContext, domain: Domain, path: string, signal: AbortSignal): Promise<void> {
  const isOurs = (host: Host): Promise<boolean> => targetOf(host, domain).then((target) => target === path)
  const begun = await context.call(`stop the copy of ${domain.name}`, signal, async (host) => {
    if (!(await isOurs(host))) return false
    await host.domains.abortJob({ domain }).catch((error: unknown) => {
      if (!hasCode(error, ErrorCode.operationInvalid)) throw error // it has ended by itself
    })
    return true
  })
  while (begun && (await context.call(`stop the copy of ${domain.name}`, signal, isOurs)))
    await context.call(`stop the copy of ${domain.name}`, signal, () => pause(POLL_MS, signal))
}
