// The backup job of a domain, which can have one at a time: its request, its target, how it ended, how to abort it.
import { type Domain, ErrorCode, hasCode, type Host, JobType } from '@berth/libvirt'
import { DriverError } from '../../driver.ts'
import { matchesText, undefinedIfNotFound } from '../core/errors.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntilTrue } from '../core/poll.ts'
import { element, readXml, type Xml } from '../core/xml.ts'

export interface Increment {
  backing: string
  since: string
  /** The backing is stored on another host. */
  isRemote: boolean
}

export interface CopyRequest {
  vmId: string
  /** Which disk of the domain; its own unless a volume. */
  disk?: string
  /** Of the volume to create. */
  name: string
  /** Backing volume, and the checkpoint whose dirty bitmap says what to copy. */
  increment?: Increment | undefined
  /** Created atomically with the start of the job. */
  checkpoint?: string | undefined
  /** Called when this process has begun the job of a running VM: whether its filesystems were frozen. */
  onBegun?: (isFrozen: boolean) => void
}

export const copyRemovedError = ({ hostId }: HostContext, name: string): DriverError =>
  new DriverError('cancelled', `${name} was removed from host ${hostId} while it was being created`)

/** False while another job of the domain runs or is being started, and while the checkpoint of a failed attempt exists. libvirt refuses a
 *  push job with VIR_ERR_OPERATION_INVALID for the first reason only. */
export async function beginJob(host: Host, domain: Domain, { disk, increment, checkpoint }: CopyRequest, path: string): Promise<boolean> {
  const xml = jobXml(disk ?? OWN_DISK, path, increment?.since).xml
  const checkpointXml = checkpoint === undefined ? undefined : checkpointXmlOf(checkpoint).xml
  try {
    await host.backups.begin({ domain, xml, ...(checkpointXml && { checkpointXml }), flags: ['reuseExternal'] })
    return true
  } catch (error) {
    if (hasCode(error, ErrorCode.operationInvalid, ErrorCode.operationTimeout)) return false
    const name = hasCode(error, ErrorCode.operationFailed) ? checkpoint : undefined
    if (name !== undefined && (await undefinedIfNotFound(host.checkpoints.lookupByName({ domain, name })))) return false
    throw error
  }
}

export const OWN_DISK = 'vda'

const jobXml = (disk: string, path: string, since: string | undefined): Xml =>
  element(
    'domainbackup',
    { mode: 'push' },
    since !== undefined && element('incremental', {}, since),
    element(
      'disks',
      {},
      element('disk', { name: disk, backup: 'yes', type: 'file' }, element('target', { file: path }), element('driver', { type: 'qcow2' })),
    ),
  )

const checkpointXmlOf = (name: string): Xml =>
  element(
    'domaincheckpoint',
    {},
    element('name', {}, name),
    element('disks', {}, element('disk', { name: OWN_DISK, checkpoint: 'bitmap' }), element('disk', { name: 'vdb', checkpoint: 'no' })),
  )

/** The path the running job writes to; undefined when there is none. */
async function targetOf(host: Host, domain: Domain): Promise<string | undefined> {
  const xml = await undefinedIfNotFound(host.backups.getXml({ domain })).catch((error: unknown) => {
    if (hasCode(error, ErrorCode.noBackup, ErrorCode.operationInvalid)) return undefined
    throw error
  })
  return xml === undefined ? undefined : readXml(xml).find('disks/disk/target')?.attributes['file']
}

/** Whether the job that wrote to `path` completed. False when it was aborted. */
export async function awaitJob(context: HostContext, domain: Domain, path: string, signal: AbortSignal): Promise<boolean> {
  const what = `watch the backup job of ${domain.name}`
  await pollUntilTrue(context, what, signal, async () => (await jobTarget(context, domain, signal)) !== path)
  const ended = await context.call(`read how the backup job of ${domain.name} ended`, signal, (host) =>
    undefinedIfNotFound(host.domains.getJobStats({ domain, flags: ['completed', 'keepCompleted'] })),
  )
  if (ended?.type === JobType.completed) return true
  const said = String(ended?.parameters['errmsg'] ?? '')
  if (matchesText(said, 'noSpace')) throw new DriverError('no_space', `The backup job of ${domain.name} ran out of space: ${said}`)
  if (ended?.type === JobType.failed) throw new DriverError('transient', `The backup job of ${domain.name} failed: ${said}`)
  return false
}

const jobTarget = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<string | undefined> =>
  call(`watch the backup job of ${domain.name}`, signal, (host) => targetOf(host, domain))

export const hasJob = async (context: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  (await jobTarget(context, domain, signal)) !== undefined

/** Until no job runs that would keep another from starting. */
export const awaitNoJob = (context: HostContext, domain: Domain, signal: AbortSignal): Promise<boolean> =>
  pollUntilTrue(context, `wait for the backup job of ${domain.name}`, signal, async () => !(await hasJob(context, domain, signal)))

/** Aborts the job that writes to `path`, in whichever process waits for it. A job with another target goes on. */
export async function stopJob(context: HostContext, domain: Domain, path: string, signal: AbortSignal): Promise<void> {
  const what = `abort the backup job of ${domain.name}`
  const isOwn = (host: Host): Promise<boolean> => targetOf(host, domain).then((target) => target === path)
  const isRunning = await context.call(what, signal, async (host) => {
    if (!(await isOwn(host))) return false
    await host.domains.abortJob({ domain }).catch((error: unknown) => {
      if (!hasCode(error, ErrorCode.operationInvalid)) throw error // it ended by itself
    })
    return true
  })
  if (isRunning) await pollUntilTrue(context, what, signal, async () => !(await context.call(what, signal, isOwn)))
}
