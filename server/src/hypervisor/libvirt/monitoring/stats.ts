// Traffic and load, one call for all domains. It does not wait for busy domains (`nowait`), so it takes milliseconds on a full host.
//
// libvirt counts per tap device. The interface of a tap device and the id of the start are read once per start and cached.
import type { Domain, Scalar } from '@berth/libvirt'
import type { MetricsSample, NicCounters, Monitoring } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { interfacesOf, macOf } from '../xml/interface-xml.ts'
import { metadataOf } from '../xml/domain-metadata.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'

interface Start {
  vmId: string
  /** Ids of domains begin at one again with the daemon. */
  startId: string
  /** By tap device. */
  macs: Map<string, string>
}

interface Measured extends Start {
  domain: Domain
  stats: Stats
}

type Stats = Record<string, Scalar>
type Group = 'cpuTotal' | 'balloon' | 'vcpu' | 'interface' | 'block'

export function statsMethods(context: HostContext): Pick<Monitoring, 'counters' | 'metrics'> {
  const cached = new Map<string, Start | undefined>()
  context.onReconnect(() => cached.clear())

  async function* measure(groups: Group[], vmIds: string[] | 'all', signal: AbortSignal): AsyncGenerator<Measured> {
    const wanted = vmIds === 'all' ? undefined : new Set(vmIds)
    const all = await context.call('read domain statistics', signal, (host) =>
      host.domains.getAllStats({ groups: ['state', 'interface', ...groups], flags: ['active', 'nowait'] }),
    )
    const keys = new Set(all.map(keyOf))
    for (const key of cached.keys()) if (!keys.has(key)) cached.delete(key)
    for (const { domain, stats } of all) {
      const key = keyOf({ domain, stats })
      if (!cached.has(key)) cached.set(key, await readStart(context, domain, signal))
      const start = cached.get(key)
      if (start && (!wanted || wanted.has(start.vmId))) yield { domain, stats, ...start }
    }
  }

  return {
    async *counters(vmIds, signal) {
      for await (const each of measure([], vmIds, signal)) yield* toCounters(each)
    },
    async *metrics(vmIds, signal) {
      for await (const each of measure(['cpuTotal', 'balloon', 'vcpu', 'block'], vmIds, signal)) yield toSample(each)
    },
  }
}

/** Changes with each start, and with each change of interfaces: libvirt names every tap device anew. */
const keyOf = ({ domain, stats }: { domain: Domain; stats: Stats }): string =>
  [domain.uuid, domain.id, ...each(stats, 'net', 'name')].join(' ')

const readStart = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<Start | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => {
    const text = await undefinedIfNotFound(host.domains.getXml({ domain }))
    const xml = text === undefined ? undefined : readXml(text)
    const metadata = xml && metadataOf(xml)
    if (!metadata) return undefined
    const macs = interfacesOf(xml).map((nic) => [nic.attribute('target/dev') ?? '', macOf(nic)] as const)
    return { vmId: metadata.vmId, startId: [metadata.startId ?? '', domain.id].join('-'), macs: new Map(macs) }
  })

/** The values of a list that libvirt encodes as `net.0.name`, `net.1.name` and so on. */
const each = (stats: Stats, list: string, field: string): (Scalar | undefined)[] =>
  Array.from({ length: Number(stats[`${list}.count`] ?? 0) }, (_, index) => stats[`${list}.${index}.${field}`])

const sum = (values: (Scalar | undefined)[]): bigint => values.reduce<bigint>((total, value) => total + BigInt(value ?? 0), 0n)

function toCounters({ vmId, startId, macs, stats }: Measured): NicCounters[] {
  const received = each(stats, 'net', 'rx.bytes')
  const sent = each(stats, 'net', 'tx.bytes')
  return each(stats, 'net', 'name').flatMap((tap, index) => {
    const mac = macs.get(String(tap))
    if (!mac) return []
    return { vmId, mac, epoch: `${startId}-${tap}`, receivedBytes: BigInt(received[index] ?? 0), sentBytes: BigInt(sent[index] ?? 0) }
  })
}

function toSample({ vmId, startId, macs, stats }: Measured): MetricsSample {
  return {
    vmId,
    epoch: [startId, ...macs.keys()].join('-'),
    vcpu: Number(stats['vcpu.current'] ?? 0),
    cpuNs: BigInt(stats['cpu.time'] ?? sum(each(stats, 'vcpu', 'time'))),
    cpuWaitNs: cpuWait(stats),
    ramMiB: Math.round(Number(stats['balloon.maximum'] ?? 0) / 1024),
    ramUsedMiB: ramUsed(stats),
    diskReadBytes: sum(each(stats, 'block', 'rd.bytes')),
    diskWrittenBytes: sum(each(stats, 'block', 'wr.bytes')),
    diskRequests: sum(each(stats, 'block', 'rd.reqs')) + sum(each(stats, 'block', 'wr.reqs')),
    diskNs: sum(each(stats, 'block', 'rd.times')) + sum(each(stats, 'block', 'wr.times')),
    receivedBytes: sum(each(stats, 'net', 'rx.bytes')),
    sentBytes: sum(each(stats, 'net', 'tx.bytes')),
  }
}

/** Of those of its CPUs that are there. Zero says that the kernel does not count it (host-setup/waiting-times.ts). */
function cpuWait(stats: Stats): bigint | null {
  const wait = sum(Array.from({ length: Number(stats['vcpu.maximum'] ?? 0) }, (_, index) => stats[`vcpu.${index}.delay`]))
  return wait === 0n ? null : wait
}

/** From the guest's balloon driver, once it reports. Reclaimable memory does not count as used. */
function ramUsed(stats: Stats): number | null {
  const all = stats['balloon.available']
  const free = stats['balloon.usable'] ?? stats['balloon.unused']
  return all === undefined || free === undefined ? null : Math.round(Number(BigInt(all) - BigInt(free)) / 1024)
}
