// Facts of a host: size, versions and capabilities.
import { GIB, type HostFacts, type Monitoring } from '../../driver.ts'
import { detectAcceleration } from './kvm-probe.ts'
import type { HostContext } from '../core/host-context.ts'
import { readGuestTypes } from './guest-types.ts'
import { freeSpaceRefresher, readPoolSpace } from './free-space.ts'
import { readXml, type Element } from '../core/xml.ts'
import { readUplinkMbps } from './uplink-speed.ts'

export function factMethods(context: HostContext): Pick<Monitoring, 'facts'> {
  const refreshSpace = freeSpaceRefresher(context)
  return {
    facts: async (signal) => {
      const read = await context.call('read host facts', signal, async (host) => {
        const hostname = await host.connect.getHostname()
        const node = await host.connect.getNodeInfo()
        await refreshSpace(host)
        const space = await readPoolSpace(host, context)
        const capabilities = readXml(await host.connect.getCapabilities())
        const versions = { libvirt: version(await host.connect.getLibVersion()), qemu: version(await host.connect.getVersion()) }
        return {
          hostname,
          node,
          space,
          capabilities,
          versions,
          guestTypes: await readGuestTypes(host),
          uplinkMbps: await readUplinkMbps(host),
        }
      })
      const { hostname, node, space, capabilities, versions, guestTypes, uplinkMbps } = read
      const cpu = capabilities.find('host/cpu')
      return {
        hostname,
        uuid: capabilities.find('host/uuid')?.text ?? null,
        vcpu: node.cpus,
        cpuNodes: readCpuNodes(capabilities),
        cpuModel: cpu?.find('model')?.text ?? node.model,
        arch: cpu?.find('arch')?.text ?? node.model,
        guestTypes,
        ramMiB: Number(node.memoryKiB / 1024n),
        diskGiB: Math.floor(Number(space.capacity) / GIB),
        diskFreeGiB: Math.floor(Number(space.available) / GIB),
        acceleration: await detectAcceleration(context, signal),
        versions,
        uplinkMbps,
        consoles: context.root === undefined ? ['serial'] : ['serial', 'vnc'],
      } satisfies HostFacts
    },
  }
}

/** Of the cells that libvirt lists; null where it lists none. */
export function readCpuNodes(capabilities: Element): number[] | null {
  const nodes: number[] = []
  for (const cell of capabilities.all('host/topology/cells/cell'))
    for (const { attributes } of cell.all('cpus/cpu')) nodes[Number(attributes['id'])] = Number(cell.attributes['id'])
  return nodes.length === 0 ? null : Array.from(nodes, (node: number | undefined) => node ?? -1)
}

/** 9000003 is 9.0.3. */
const version = (number: bigint): string => [number / 1_000_000n, (number / 1000n) % 1000n, number % 1000n].join('.')
