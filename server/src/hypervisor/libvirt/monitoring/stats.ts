// Traffic and load, one call for all domains. It does not wait for busy domains (`nowait`), so it takes milliseconds on a full host.
//
// libvirt counts per tap device. The interface of a tap device, and its port id, which changes with every attachment and start, are read once
// per start and cached.
import type { Domain, Scalar } from '@berth/libvirt'
import type { MetricsSample, NicCounters, Monitoring } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { interfacesOf, macOf } from '../xml/interface-xml.ts'
import { metadataOf } from '../xml/domain-metadata.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'

interface InterfacePorts {
  vmId: string
  /** By tap device. */
  nics: Map<string, { mac: string; portId: string }>
}

interface Measured extends InterfacePorts {
  domain: Domain
  stats: Stats
}

type Stats = Record<string, Scalar>
type Group = 'cpuTotal' | 'balloon' | 'vcpu' | 'interface' | 'block'

export function statsMethods(context: HostContext): Pick<Monitoring, 'counters' | 'metrics'> {
  const cached = new Map<string, InterfacePorts | undefined>()
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
      if (!cached.has(key)) cached.set(key, await readPorts(context, domain, signal))
      const ports = cached.get(key)
      if (ports && (!wanted || wanted.has(ports.vmId))) yield { domain, stats, ...ports }
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

const readPorts = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<InterfacePorts | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => {
    const text = await undefinedIfNotFound(host.domains.getXml({ domain }))
    const xml = text === undefined ? undefined : readXml(text)
    const vmId = xml && metadataOf(xml)?.vmId
    if (!vmId) return undefined
    const nics = interfacesOf(xml).map((nic) => {
      const tap = nic.attribute('target/dev') ?? ''
      return [tap, { mac: macOf(nic), portId: nic.attribute('source/portid') ?? `${domain.id}-${tap}` }] as const
    })
    return { vmId, nics: new Map(nics) }
  })

/** The values of a list that libvirt encodes as `net.0.name`, `net.1.name` and so on. */
const each = (stats: Stats, list: string, field: string): (Scalar | undefined)[] =>
  Array.from({ length: Number(stats[`${list}.count`] ?? 0) }, (_, index) => stats[`${list}.${index}.${field}`])

const sum = (values: (Scalar | undefined)[]): bigint => values.reduce<bigint>((total, value) => total + BigInt(value ?? 0), 0n)

function toCounters({ vmId, nics, stats }: Measured): NicCounters[] {
  const received = each(stats, 'net', 'rx.bytes')
  const sent = each(stats, 'net', 'tx.bytes')
  return each(stats, 'net', 'name').flatMap((tap, index) => {
    const nic = nics.get(String(tap))
    if (!nic) return []
    return { vmId, mac: nic.mac, epoch: nic.portId, receivedBytes: BigInt(received[index] ?? 0), sentBytes: BigInt(sent[index] ?? 0) }
  })
}

function toSample({ domain, vmId, nics, stats }: Measured): MetricsSample {
  return {
    vmId,
    epoch: [domain.id, ...[...nics.values()].map(({ portId }) => portId.slice(0, 8))].join('-'),
    vcpu: Number(stats['vcpu.current'] ?? 0),
    cpuNs: BigInt(stats['cpu.time'] ?? sum(each(stats, 'vcpu', 'time'))),
    ramMiB: Math.round(Number(stats['balloon.maximum'] ?? 0) / 1024),
    ramUsedMiB: ramUsed(stats),
    diskReadBytes: sum(each(stats, 'block', 'rd.bytes')),
    diskWrittenBytes: sum(each(stats, 'block', 'wr.bytes')),
    receivedBytes: sum(each(stats, 'net', 'rx.bytes')),
    sentBytes: sum(each(stats, 'net', 'tx.bytes')),
  }
}

/** From the guest's balloon driver, once it reports. Reclaimable memory does not count as used. */
function ramUsed(stats: Stats): number | null {
  const all = stats['balloon.available']
  const free = stats['balloon.usable'] ?? stats['balloon.unused']
  return all === undefined || free === undefined ? null : Math.round(Number(BigInt(all) - BigInt(free)) / 1024)
}
