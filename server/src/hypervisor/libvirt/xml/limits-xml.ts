// The limits of a plan as disks of a domain have them.
import type { DiskLimits } from '../../driver.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

/** All disks of a machine share its limits: each of its own would multiply them. */
export const LIMIT_GROUP = 'machine'

export const UNLIMITED: DiskLimits = { iops: null, miBPerSecond: null }
const MIB = 2 ** 20

export const limitsXml = ({ iops, miBPerSecond }: DiskLimits): Xml | false =>
  (iops !== null || miBPerSecond !== null) &&
  element(
    'iotune',
    {},
    miBPerSecond !== null && element('total_bytes_sec', {}, miBPerSecond * MIB),
    iops !== null && element('total_iops_sec', {}, iops),
    element('group_name', {}, LIMIT_GROUP),
  )

export function limitsOf(disk: Element | undefined): DiskLimits {
  const tune = disk?.find('iotune')
  const [bytes, iops] = ['total_bytes_sec', 'total_iops_sec'].map((name) => Number(tune?.find(name)?.text ?? 0))
  return { iops: iops || null, miBPerSecond: bytes ? Math.round(bytes / MIB) : null }
}
