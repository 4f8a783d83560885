// Decides at start-up whether this machine runs VMs on libvirt or simulated, and registers it as a host. The driver of a host with VMs or
// networks never changes: the other driver would look for machines that it does not have.
import type { Config } from '../../config.ts'
import { readCatalog } from '../../features/catalog/seed.ts'
import { countHostResources, findHost, type HostRow, removeHost } from '../../features/hosts/service.ts'
import { seedDatabase } from '../../features/seed.ts'
import { installByHand, missingCommands } from '../../host-setup/packages.ts'
import { findCommand } from '../../host-setup/shell.ts'
import { systemClock } from '../../kernel/clock.ts'
import { type Db, openDb } from '../../kernel/database/db.ts'
import { showLine } from '../output.ts'
import type { Obstacle } from './local-libvirt-host.ts'

export interface LocalHost {
  driver: 'libvirt' | 'simulated'
  /** It has VMs, private networks or backups. */
  inUse: boolean
}

export interface Decision {
  kind: 'libvirt' | 'simulated'
  /** The registered host has the other driver and is empty, so it is replaced. */
  replace: boolean
  /** Why VMs are simulated though libvirt was possible. */
  why: string | null
  /** How to get real VMs. */
  fix: string | null
}

const NEW_DATA_FOLDER = 'set BERTH_DATA_DIR to a new folder'

/** `cannot`: why libvirt cannot be used on this machine, or null. */
export function decideHypervisor(setting: Config['hypervisor'], local: LocalHost | null, cannot: Obstacle | null): Decision {
  const real: Decision = { kind: 'libvirt', replace: local?.driver === 'simulated', why: null, fix: null }
  const simulated: Decision = { kind: 'simulated', replace: local?.driver === 'libvirt', why: null, fix: null }
  if (setting === 'simulated') {
    if (local?.driver === 'libvirt' && local.inUse)
      throw new Error(
        `The VMs of this data are real, and BERTH_HYPERVISOR=simulated would lose track of them. Unset it, or ${NEW_DATA_FOLDER}`,
      )
    return simulated
  }
  if (local?.driver === 'simulated' && local.inUse) {
    if (setting === 'libvirt')
      throw new Error(
        `The VMs of this data are simulated, and libvirt does not have them. Delete them, set BERTH_HYPERVISOR=simulated, or ${NEW_DATA_FOLDER}`,
      )
    return { ...simulated, why: 'this data folder has simulated VMs', fix: `for real ones, ${NEW_DATA_FOLDER}` }
  }
  if (cannot && (setting === 'libvirt' || local?.driver === 'libvirt'))
    throw new Error(`VMs cannot run here: ${cannot.why}. To fix it: ${cannot.fix}`)
  return cannot ? { ...simulated, ...cannot } : real
}

/** Returns what runs VMs on this machine; null when the operator's catalog does not include it. */
export async function openLocalHost(config: Config, url: string): Promise<Decision['kind'] | null> {
  const { hosts, pools } = readCatalog(config.catalogFile)
  const host = hosts.find(({ driver }) => driver === 'auto')
  if (!host) return null
  const wanted = { host, dns: pools.find((pool) => pool.host === host.name)?.dns ?? ['1.1.1.1', '9.9.9.9'] }
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  try {
    const local = await knownHost(db, host.name)
    const inUse = local !== null && Object.values(await countHostResources(db, local.id)).some((count) => count > 0)
    const decision = decideHypervisor(config.hypervisor, local && { driver: local.driver, inUse }, await findObstacle(config))
    if (decision.kind === 'simulated') {
      await openSimulatedHost(db, config, local, decision)
      return 'simulated'
    }
    const { openLibvirtHost } = await import('./local-libvirt-host.ts') // imported on demand: it loads the host setup
    const failed = await openLibvirtHost(db, config, wanted, local, decision.replace)
    if (!failed) return 'libvirt'
    await openSimulatedHost(db, config, null, { kind: 'simulated', replace: false, ...failed })
    return 'simulated'
  } finally {
    await db.close()
  }
}

async function knownHost(db: Db, name: string): Promise<HostRow | null> {
  const row = await findHost(db, name)
  return row && !row.removed_at ? row : null
}

/** Why libvirt cannot even be set up here. */
async function findObstacle({ hypervisor }: Config): Promise<Obstacle | null> {
  if (hypervisor === 'simulated') return null
  if (process.getuid?.() !== 0) return { why: 'real VMs need root', fix: 'sudo npm start' }
  const missing = await missingCommands()
  if (missing.length === 0 || (await findCommand('apt-get'))) return null
  return { why: `${missing.join(', ')} are not installed`, fix: installByHand }
}

async function openSimulatedHost(db: Db, config: Config, local: HostRow | null, { replace, why, fix }: Decision): Promise<void> {
  const now = systemClock.now()
  if (replace && local) await db.tx((tx) => removeHost(tx, now, local))
  await seedDatabase(db, now, { ...config, hypervisor: 'simulated' })
  if (why) showLine('!', `simulated hypervisor: ${why}`, fix ?? '')
  else showLine('✓', 'simulated hypervisor', '')
}
