// What libvirt is told to begin a copy with.
// The one backup job a domain can have at a time: what it writes, how it ended, and how to stop it.
import { type Domain, ErrorCode, hasCode, type Host, JobType } from '@berth/libvirt'
import { DriverError } from '../../driver.ts'
import { pause } from '../core/abortable.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { element, readXml, type Xml } from '../core/xml.ts'

export interface Increment {
  backing: string
  since: string
  /** On another host. */
  isRemote: boolean
}

export interface CopyRequest {
  vmId: string
  /** Of the volume to make. */
  name: string
  /** The volume it builds on, and the checkpoint since which it holds the changes. */
  increment?: Increment | undefined
  /** To be made at the moment it shows. */
  checkpoint?: string | undefined
}

const BUSY = /already|another|state change lock/i
const HAS_CHECKPOINT = /moment .* already exists/i

/** False while another job of the domain is in the way, or the checkpoint of one that ended before it was done. */
export async function beginJob(host: Host, domain: Domain, { increment, checkpoint }: CopyRequest, path: string): Promise<boolean> {
  const xml = jobXml(path, increment?.since).xml
  const checkpointXml = checkpoint === undefined ? undefined : checkpointXmlOf(checkpoint).xml
  try {
    await host.backups.begin({ domain, xml, ...(checkpointXml && { checkpointXml }), flags: ['reuseExternal'] })
    return true
  } catch (error) {
    if (hasCode(error, ErrorCode.operationInvalid, ErrorCode.operationTimeout) && BUSY.test(error.message)) return false
    if (hasCode(error, ErrorCode.operationFailed) && HAS_CHECKPOINT.test(error.message)) return false
    throw error
  }
}

const jobXml = (path: string, since: string | undefined): Xml =>
  element(
    'domainbackup',
    { mode: 'push' },
    since !== undefined && element('incremental', {}, since),
    element(
      'disks',
      {},
      element(
        'disk',
        { name: 'vda', backup: 'yes', type: 'file' },
        element('target', { file: path }),
        element('driver', { type: 'qcow2' }),
      ),
    ),
  )

const checkpointXmlOf = (name: string): Xml =>
  element(
    'domaincheckpoint',
    {},
    element('name', {}, name),
    element('disks', {}, element('disk', { name: 'vda', checkpoint: 'bitmap' }), element('disk', { name: 'vdb', checkpoint: 'no' })),
  )

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
