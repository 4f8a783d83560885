// Health check of a host: returns problems for the operator. VMs keep running with most of them, so none is an error.
import { readFile } from 'node:fs/promises'
import { PoolState, type Host } from '@berth/libvirt'
import { GIB, type Monitoring } from '../../driver.ts'
import { undefinedIfNotFound } from '../core/errors.ts'
import { STORAGE_POOL, PUBLIC_NETWORK } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { readPoolSpace } from './free-space.ts'

/** Low-space threshold: one more disk of a usual size, or 5 % of a small pool. */
const TIGHT_BYTES = BigInt(20 * GIB)
/** ext4 reserves 5 % for root: libvirt reports it as free, but guests cannot use it. */
const RESERVE = 20n

export function healthMethods(context: HostContext): Pick<Monitoring, 'health'> {
  return {
    health: async (signal) => ({
      problems: await context.call('check host health', signal, async (host) => {
        const found = [await poolProblem(host), await networkProblem(host), await filterProblem(context)]
        return found.filter((problem) => problem !== undefined)
      }),
    }),
  }
}

async function poolProblem(host: Host): Promise<string | undefined> {
  const pool = (await host.pools.listAll()).find(({ name }) => name === STORAGE_POOL)
  if (!pool) return `There is no storage pool ${STORAGE_POOL}. Run \`berthd host prepare\` on the host`
  const { state } = await host.pools.getInfo({ pool })
  if (state !== PoolState.running)
    return `The storage pool ${STORAGE_POOL} is not active. Start it with \`virsh pool-start ${STORAGE_POOL}\``
  const { capacity, available } = await readPoolSpace(host)
  const enough = capacity / 20n < TIGHT_BYTES ? capacity / 20n : TIGHT_BYTES
  if (available >= enough + capacity / RESERVE) return undefined
  return `Only ${(Number(available) / GIB).toFixed(1)} GiB of the disk are free. Remove backups or add a disk`
}

async function networkProblem(host: Host): Promise<string | undefined> {
  const network = await undefinedIfNotFound(host.networks.lookupByName({ name: PUBLIC_NETWORK }))
  if (!network) return `There is no network ${PUBLIC_NETWORK}. Run \`berthd host prepare\` on the host`
  if ((await host.networks.isActive({ network })) === 1) return undefined
  return `The network ${PUBLIC_NETWORK} is not active. Start it with \`virsh net-start ${PUBLIC_NETWORK}\``
}

/** Of the local host only: libvirt does not expose sysctl settings. */
async function filterProblem({ root }: HostContext): Promise<string | undefined> {
  if (root !== '') return undefined
  const setting = await readFile('/proc/sys/net/bridge/bridge-nf-call-iptables', 'utf8').catch(() => '0')
  if (setting.trim() === '1') return undefined
  return 'Firewalls do not filter: net.bridge.bridge-nf-call-iptables is off. Run `berthd host prepare` on the host'
}
