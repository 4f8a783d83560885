// Traffic and load, one call for all machines. It does not wait for machines that are busy, so it costs milliseconds on a full host.
//
// libvirt counts by the name of the host's own end of an interface. Whose it is, and the id of its port, which is another one each
// time it is plugged in or started, are read once per start and remembered.
import type { Domain, Scalar } from '@berth/libvirt'
import type { MetricsSample, NicCounters, Monitoring } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { interfacesOf, macOf } from '../xml/interface-xml.ts'
import { metadataOf } from '../xml/domain-metadata.ts'
import type { HostContext } from '../core/host-context.ts'
import { readXml } from '../core/xml.ts'

interface InterfacePorts {
  vmId: string
  /** By the name of the host's end. */
  nics: Map<string, { mac: string; portId: string }>
}

interface Measured extends InterfacePorts {
  domain: Domain
  stats: Stats
}

type Stats = Record<string, Scalar>
type Group = 'cpuTotal' | 'balloon' | 'vcpu' | 'interface' | 'block'

export function statsMethods(context: HostContext): Pick<Monitoring, 'counters' | 'metrics'> {
  const remembered = new Map<string, InterfacePorts | undefined>()
  context.onReconnect(() => remembered.clear())

  async function* measure(groups: Group[], vmIds: string[] | 'all', signal: AbortSignal): AsyncGenerator<Measured> {
    const wanted = vmIds === 'all' ? undefined : new Set(vmIds)
    const all = await context.call('measure machines', signal, (host) =>
      host.domains.getAllStats({ groups: ['state', 'interface', ...groups], flags: ['active', 'nowait'] }),
    )
    const keys = new Set(all.map(keyOf))
    for (const key of remembered.keys()) if (!keys.has(key)) remembered.delete(key)
    for (const { domain, stats } of all) {
      const key = keyOf({ domain, stats })
      if (!remembered.has(key)) remembered.set(key, await readEnds(context, domain, signal))
      const ends = remembered.get(key)
      if (ends && (!wanted || wanted.has(ends.vmId))) yield { domain, stats, ...ends }
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

/** Another one after each start, and after each change of interfaces: the host gives every end a new name. */
const keyOf = ({ domain, stats }: { domain: Domain; stats: Stats }): string =>
  [domain.uuid, domain.id, ...each(stats, 'net', 'name')].join(' ')

const readEnds = ({ call }: HostContext, domain: Domain, signal: AbortSignal): Promise<InterfacePorts | undefined> =>
  call(`read ${domain.name}`, signal, async (host) => {
    const text = await undefinedIfNotFound(host.domains.getXml({ domain }))
    const xml = text === undefined ? undefined : readXml(text)
    const vmId = xml && metadataOf(xml)?.vmId
    if (!vmId) return undefined
    const nics = interfacesOf(xml).map((nic) => {
      const end = nic.attribute('target/dev') ?? ''
      return [end, { mac: macOf(nic), portId: nic.attribute('source/portid') ?? `${domain.id}-${end}` }] as const
    })
    return { vmId, nics: new Map(nics) }
  })

/** The values of a list that libvirt spells out as `net.0.name`, `net.1.name` and so on. */
const each = (stats: Stats, list: string, field: string): (Scalar | undefined)[] =>
  Array.from({ length: Number(stats[`${list}.count`] ?? 0) }, (_, index) => stats[`${list}.${index}.${field}`])

const sum = (values: (Scalar | undefined)[]): bigint => values.reduce<bigint>((total, value) => total + BigInt(value ?? 0), 0n)

function toCounters({ vmId, nics, stats }: Measured): NicCounters[] {
  const received = each(stats, 'net', 'rx.bytes')
  const sent = each(stats, 'net', 'tx.bytes')
  return each(stats, 'net', 'name').flatMap((end, index) => {
    const nic = nics.get(String(end))
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

/** What the guest's balloon driver tells, once it does. What it could give back at once is not in use. */
function ramUsed(stats: Stats): number | null {
  const all = stats['balloon.available']
  const free = stats['balloon.usable'] ?? stats['balloon.unused']
  return all === undefined || free === undefined ? null : Math.round(Number(BigInt(all) - BigInt(free)) / 1024)
}
