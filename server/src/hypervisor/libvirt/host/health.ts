// Health check of a host: returns problems for the operator. VMs keep running with most of them, so none is an error. Those of the network are
// known to the region's controller.
import { PoolState, type Host } from '@berth/libvirt'
import { GIB, type Monitoring } from '../../driver.ts'
import { STORAGE_POOL } from '../core/resource-names.ts'
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
        const problem = await poolProblem(host, context)
        return problem === undefined ? [] : [problem]
      }),
    }),
  }
}

async function poolProblem(host: Host, context: HostContext): Promise<string | undefined> {
  const pool = (await host.pools.listAll()).find(({ name }) => name === STORAGE_POOL)
  if (!pool) return `There is no storage pool ${STORAGE_POOL}. Run \`berthd host prepare\` on the host`
  const { state } = await host.pools.getInfo({ pool })
  if (state !== PoolState.running)
    return `The storage pool ${STORAGE_POOL} is not active. Start it with \`virsh pool-start ${STORAGE_POOL}\``
  const { capacity, available } = await readPoolSpace(host, context)
  const enough = capacity / 20n < TIGHT_BYTES ? capacity / 20n : TIGHT_BYTES
  if (available >= enough + capacity / RESERVE) return undefined
  return `Only ${(Number(available) / GIB).toFixed(1)} GiB of the disk are free. Remove backups or add a disk`
}
