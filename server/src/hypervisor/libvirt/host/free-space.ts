// Free disk space of a host. libvirt updates it at a pool refresh only, so the value of the storage pool becomes stale while guests write.
// Refreshing that pool is slow with many volumes, locks it meanwhile, and deactivates it on failure. Instead an empty folder in it is a pool
// of its own, on the same filesystem, and is refreshed.
import { statfs } from 'node:fs/promises'
import type { Host, Named } from '@berth/libvirt'
import { stopwatch } from '../../../kernel/clock.ts'
import { STORAGE_POOL, SPACE_FOLDER, SPACE_POOL } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { abortable } from '../core/abortable.ts'
import { element, readXml } from '../core/xml.ts'

/** As of the last refresh. libvirt counts blocks that the filesystem reserves for root as available: on this machine they are subtracted. */
export async function readPoolSpace(host: Host, { root }: Pick<HostContext, 'root'>): Promise<{ capacity: bigint; available: bigint }> {
  const pools = await host.pools.listAll({ flags: ['active'] })
  const pool = pools.find(({ name }) => name === SPACE_POOL) ?? (await host.pools.lookupByName({ name: STORAGE_POOL }))
  const { capacity, available } = await host.pools.getInfo({ pool })
  const path = root === undefined ? undefined : await pathOf(host, pool)
  const reserved = path === undefined ? 0n : await statfs(`${root}${path}`, { bigint: true }).then(reservedOf, () => 0n)
  return { capacity, available: available > reserved ? available - reserved : 0n }
}

const reservedOf = ({ bfree, bavail, bsize }: { bfree: bigint; bavail: bigint; bsize: bigint }): bigint => (bfree - bavail) * bsize

const REFRESH_INTERVAL_MS = 30_000
/** Running copies may delay the refresh; a stale value is good enough then. */
const TIMEOUT_MS = 5_000

export function freeSpaceRefresher({ log, hostId }: HostContext): (host: Host) => Promise<void> {
  let refreshedMs: (() => number) | undefined
  return async (host) => {
    if (refreshedMs && refreshedMs() < REFRESH_INTERVAL_MS) return
    refreshedMs = stopwatch()
    await abortable(refresh(host), AbortSignal.timeout(TIMEOUT_MS)).catch((error: unknown) =>
      log.warn({ hostId, err: error }, 'refreshing storage pool free space failed'),
    )
  }
}

/** The pool is transient: libvirt drops it when the daemon ends or its folder is missing. The storage pool may have moved to another path. */
async function refresh(host: Host): Promise<void> {
  const path = `${await pathOf(host, await host.pools.lookupByName({ name: STORAGE_POOL }))}/${SPACE_FOLDER}`
  const known = (await host.pools.listAll({ flags: ['active'] })).find(({ name }) => name === SPACE_POOL)
  if (known && (await pathOf(host, known)) === path) return host.pools.refresh({ pool: known })
  if (known) await host.pools.destroy({ pool: known })
  const { xml } = element('pool', { type: 'dir' }, element('name', {}, SPACE_POOL), element('target', {}, element('path', {}, path)))
  await host.pools.createXml({ xml, flags: ['withBuild'] })
}

const pathOf = async (host: Host, pool: Named): Promise<string | undefined> =>
  readXml(await host.pools.getXml({ pool })).find('target/path')?.text
