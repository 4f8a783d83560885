// On which CPUs of the host a domain runs: `<vcpu cpuset>` for all of its threads, and where the CPUs are its own, one for each vCPU and the memory of their node.
import { formatNumberRanges, parseNumberRanges } from '../../../kernel/number-ranges.ts'
import type { CpuSet } from '../../driver.ts'
import { element, type Element, type Xml } from '../core/xml.ts'

/** Memory is preferred from the node rather than required: a node that has none left would have the guest killed. */
export function pinXml(set: CpuSet | null, vcpus: number): Xml[] {
  if (!set || set.numaNode === null) return []
  const pins = set.cpus.slice(0, vcpus).map((cpu, vcpu) => element('vcpupin', { vcpu, cpuset: cpu }))
  return [element('cputune', {}, pins), element('numatune', {}, element('memory', { mode: 'preferred', nodeset: set.numaNode }))]
}

/** More CPUs than any host has. */
const MOST = 8192

/** Null: any. Pins come first: those that were changed while the domain runs are nowhere else. vCPUs that were removed while it runs may still have one. */
export function cpuSetOf(domain: Element): CpuSet | null {
  const vcpus = Number(domain.attribute('vcpu/current') ?? Infinity)
  const pins = domain
    .all('cputune/vcpupin')
    .filter(({ attributes }) => Number(attributes['vcpu']) < vcpus)
    .map(({ attributes }) => parseNumberRanges(attributes['cpuset'] ?? '', MOST) ?? [])
  const node = domain.attribute('numatune/memory/nodeset')
  if (pins.length > 0 && node !== undefined) return { cpus: pins.flat(), numaNode: Number(node) }
  const shared = pins[0] ?? parseNumberRanges(domain.attribute('vcpu/cpuset') ?? '', MOST)
  return shared ? { cpus: shared, numaNode: null } : null
}

/** The XML of a domain for another host, with the CPUs it has there. */
export function moveCpus(xml: string, set: CpuSet | null): string {
  const bare = xml
    .replace(/\s*<cputune>[^]*?<\/cputune>/, '')
    .replace(/\s*<numatune>[^]*?<\/numatune>/, '')
    .replace(/(<vcpu\b[^>]*?) cpuset=(["'])[^"']*\2/, '$1')
  if (!set) return bare
  const vcpus = Number(/<vcpu\b[^>]*>(\d+)</.exec(bare)?.[1])
  const pins = pinXml(set, vcpus).map((each) => each.xml)
  return bare.replace(/(<vcpu\b[^>]*)(>\d+<\/vcpu>)/, `$1 cpuset="${formatNumberRanges(set.cpus)}"$2${pins.join('')}`)
}

/** A bit for each CPU, as libvirt takes it; all of `count` where there is no set. */
export function cpuMap(set: CpuSet['cpus'] | null, count: number): Buffer {
  const cpus = set ?? [...Array(count).keys()]
  const map = Buffer.alloc(Math.ceil((Math.max(count - 1, ...cpus) + 1) / 8))
  for (const cpu of cpus) map[cpu >> 3]! |= 1 << (cpu & 7)
  return map
}
