// The storage pool for disks, templates, snapshots and backups.
import { ErrorCode, PoolState, type Connection, type Named } from '@berth/libvirt'
import { GIB } from '../hypervisor/driver.ts'
import { STORAGE_POOL } from '../hypervisor/libvirt/core/resource-names.ts'
import { found, withLibvirt } from './libvirt.ts'
import { missing, SetupError, satisfied, type Step } from './setup-step.ts'
import { exists } from './shell.ts'

const AUTOSTART = `/etc/libvirt/storage/autostart/${STORAGE_POOL}.xml`

const find = (libvirt: Connection): Promise<Named | null> =>
  found(libvirt.pools.lookupByName({ name: STORAGE_POOL }), ErrorCode.noStoragePool)

export const pool: Step = {
  name: 'pool',
  check: ({ poolPath }) =>
    withLibvirt(async (libvirt) => {
      const known = await find(libvirt)
      if (!known) return missing(`storage pool ${STORAGE_POOL} in ${poolPath}`)
      const path = pathIn(await libvirt.pools.getXml({ pool: known }))
      if (path !== poolPath) throw otherPath(path, poolPath)
      const { state, available } = await libvirt.pools.getInfo({ pool: known })
      if (state !== PoolState.running) return missing(`storage pool ${STORAGE_POOL} is not active`)
      if (!(await exists(AUTOSTART))) return missing(`storage pool ${STORAGE_POOL} has no autostart`)
      return satisfied(`storage pool ${STORAGE_POOL} in ${poolPath}, ${Math.floor(Number(available) / GIB)} GiB free`)
    }).catch(missingIfUnreachable(`storage pool ${STORAGE_POOL} in ${poolPath}`)),
  apply: ({ poolPath }) =>
    withLibvirt(async (libvirt) => {
      const xml = `<pool type='dir'><name>${STORAGE_POOL}</name><target><path>${escape(poolPath)}</path><permissions><mode>0711</mode></permissions></target></pool>`
      const made = (await find(libvirt)) ?? (await libvirt.pools.define({ xml }))
      // Off first: libvirtd would not recreate a missing autostart symlink that it believes to exist.
      for (const autostart of [0, 1]) await libvirt.pools.setAutostart({ pool: made, autostart })
      const { state } = await libvirt.pools.getInfo({ pool: made })
      if (state !== PoolState.running) await libvirt.pools.create({ pool: made, flags: ['withBuild'] })
    }),
}

/** Without libvirtd, its resources are missing too. Errors reported by libvirtd itself are rethrown. */
export const missingIfUnreachable =
  (what: string) =>
  (error: unknown): ReturnType<typeof missing> => {
    if (error instanceof SetupError || (error as { outcome?: string }).outcome !== 'not sent') throw error
    return missing(what)
  }

const pathIn = (xml: string): string => /<path>([^<]*)<\/path>/.exec(xml)?.[1]?.replaceAll('&amp;', '&') ?? ''
const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const otherPath = (path: string, wanted: string): SetupError =>
  new SetupError(
    `The storage pool ${STORAGE_POOL} is in ${path}, not in ${wanted}`,
    `omit --pool-path, or: virsh pool-destroy ${STORAGE_POOL}; virsh pool-undefine ${STORAGE_POOL}`,
  )
