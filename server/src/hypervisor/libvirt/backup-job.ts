// What libvirt is told to begin a copy with.
import { ErrorCode, hasCode, type Domain, type Host } from '@berth/libvirt'
import { element, type Xml } from './xml.ts'

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
