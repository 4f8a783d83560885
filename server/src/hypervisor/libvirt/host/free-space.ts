// How much of the host's disk is free. libvirt counts that when it reads the folder of a pool, not when guests write, so what it knows of
// ours grows old. To have ours read again would tell, but takes long where there are many volumes, holds up everybody meanwhile, and when it
// fails the pool goes out of use, with all that runs on it. So an empty folder among the disks is a pool too, and is read instead.
import type { Host, Named } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { STORAGE_POOL, SPACE_FOLDER, SPACE_POOL } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { abortable } from '../core/abortable.ts'
import { element, readXml } from '../core/xml.ts'

/** What is known of it. */
export async function readPoolSpace(host: Host): Promise<{ capacity: bigint; available: bigint }> {
  const pools = await host.pools.listAll({ flags: ['active'] })
  const pool = pools.find(({ name }) => name === SPACE_POOL) ?? (await host.pools.lookupByName({ name: STORAGE_POOL }))
  return host.pools.getInfo({ pool })
}

const OFTEN_ENOUGH_MS = 30_000
/** Copies under way may hold up such calls; how full the disk is can wait then. */
const TIMEOUT_MS = 5_000

export function freeSpaceRefresher({ log, hostId }: HostContext): (host: Host) => Promise<void> {
  let countedMs: (() => number) | undefined
  return async (host) => {
    if (countedMs && countedMs() < OFTEN_ENOUGH_MS) return
    countedMs = stopwatch()
    await abortable(count(host), AbortSignal.timeout(TIMEOUT_MS)).catch((error: unknown) =>
      log.warn({ hostId, err: error }, 'how much of the disk is free is not known anew'),
    )
  }
}

/** libvirt forgets this pool when its daemon ends, and when its folder is gone. Ours may have moved to another disk. */
async function count(host: Host): Promise<void> {
  const path = `${await pathOf(host, await host.pools.lookupByName({ name: STORAGE_POOL }))}/${SPACE_FOLDER}`
  const known = (await host.pools.listAll({ flags: ['active'] })).find(({ name }) => name === SPACE_POOL)
  if (known && (await pathOf(host, known)) === path) return host.pools.refresh({ pool: known })
  if (known) await host.pools.destroy({ pool: known })
  const { xml } = element('pool', { type: 'dir' }, element('name', {}, SPACE_POOL), element('target', {}, element('path', {}, path)))
  await host.pools.createXml({ xml, flags: ['withBuild'] })
}

const pathOf = async (host: Host, pool: Named): Promise<string | undefined> =>
  readXml(await host.pools.getXml({ pool })).find('target/path')?.text
