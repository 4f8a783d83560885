// vCPUs and memory of a domain: those it starts with, room for more, and the DIMMs that were added while it runs.
import { formatNumberRanges } from '../../../kernel/number-ranges.ts'
import type { ComputeSize, MachineSpec } from '../../driver.ts'
import { RAM_SLOTS } from '../../room.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

const canGetRam = (spec: MachineSpec, room: ComputeSize): boolean => room.ramMiB > spec.ramMiB

export const sizeXml = (spec: MachineSpec, room: ComputeSize): Xml[] => [
  ...(canGetRam(spec, room) ? [element('maxMemory', { slots: RAM_SLOTS, unit: 'MiB' }, room.ramMiB)] : []),
  element('memory', { unit: 'MiB' }, spec.ramMiB),
  element(
    'vcpu',
    {
      placement: 'static',
      cpuset: spec.cpus ? formatNumberRanges(spec.cpus.cpus) : undefined,
      current: room.vcpu > spec.vcpu ? spec.vcpu : undefined,
    },
    room.vcpu,
  ),
]

/** Of `<cpu>`: libvirt adds memory only to a node of the guest. */
export const nodeXml = (spec: MachineSpec, room: ComputeSize): Xml | false =>
  canGetRam(spec, room) &&
  element('numa', {}, element('cell', { id: 0, cpus: `0-${Math.max(1, room.vcpu) - 1}`, memory: spec.ramMiB, unit: 'MiB' }))

const dimmName = (place: number): string => `ua-ram-${place}`

/** A guest may give back any of them. */
export function freePlace(dimms: Dimm[]): number {
  const taken = new Set(dimms.map(({ alias }) => alias))
  let place = 0
  while (taken.has(dimmName(place))) place++
  return place
}

/** Its name, by its place, lets it be added once. */
export const dimmXml = (ramMiB: number, place: number): Xml =>
  element(
    'memory',
    { model: 'dimm' },
    element('target', {}, element('size', { unit: 'MiB' }, ramMiB), element('node', {}, 0)),
    element('alias', { name: dimmName(place) }),
  )

export interface Dimm {
  alias: string
  ramMiB: number
}

/** In the order in which they were added. */
export const dimmsOf = (domain: Element): Dimm[] =>
  domain
    .all('devices/memory')
    .map((each) => ({ alias: each.attribute('alias/name') ?? '', ramMiB: Number(each.find('target/size')?.text) / 1024 }))

/** With what was added. */
export const sizeOf = (domain: Element): ComputeSize => ({
  vcpu: Number(domain.attribute('vcpu/current') ?? domain.find('vcpu')?.text ?? 0),
  ramMiB: Math.round(Number(domain.find('memory')?.text ?? 0) / 1024),
})

export const roomOf = (domain: Element): ComputeSize => {
  const hasSlot = dimmsOf(domain).length < Number(domain.attribute('maxMemory/slots') ?? 0)
  return {
    vcpu: Number(domain.find('vcpu')?.text ?? 0),
    ramMiB: Math.round(Number(domain.find(hasSlot ? 'maxMemory' : 'memory')?.text ?? 0) / 1024),
  }
}
