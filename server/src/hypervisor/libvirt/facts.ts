// What the host is and what it can do.
import type { HostFacts, Observation } from '../driver.ts'
import { accelerationOf } from './acceleration.ts'
import { canLimit } from './limits.ts'
import type { Session } from './session.ts'
import { spaceCounter, spaceOf } from './space.ts'
import { readXml } from './xml.ts'

const GIB = 2n ** 30n

export function factVerbs(session: Session): Pick<Observation, 'facts'> {
  const countSpace = spaceCounter(session)
  return {
    facts: async (signal) => {
      const read = await session.call('look at the host', signal, async (host) => {
        const node = await host.connect.getNodeInfo()
        await countSpace(host)
        const space = await spaceOf(host)
        const cpu = readXml(await host.connect.getCapabilities()).find('host/cpu')
        const versions = { libvirt: version(await host.connect.getLibVersion()), qemu: version(await host.connect.getVersion()) }
        return { node, space, cpu, versions }
      })
      const { node, space, cpu, versions } = read
      return {
        vcpu: node.cpus,
        cpuModel: cpu?.find('model')?.text ?? node.model,
        arch: cpu?.find('arch')?.text ?? node.model,
        ramMiB: Number(node.memoryKiB / 1024n),
        diskGiB: Number(space.capacity / GIB),
        diskFreeGiB: Number(space.available / GIB),
        acceleration: await accelerationOf(session, signal),
        versions,
        consoles: session.root === undefined ? ['serial'] : ['serial', 'vnc'],
        canLimit: await canLimit(session, signal),
      } satisfies HostFacts
    },
  }
}

/** 9000003 is 9.0.3. */
const version = (number: bigint): string => [number / 1_000_000n, (number / 1000n) % 1000n, number % 1000n].join('.')
