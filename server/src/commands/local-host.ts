// This machine as a host, when the product starts: decided, and registered. On a machine that is ready it is only looked at.
import type { Config } from '../config.ts'
import { readCatalog } from '../features/catalog/fill.ts'
import { seedDatabase } from '../features/fill.ts'
import { belongingsOf, findHost, removeHost, type HostRow } from '../features/hosts/service.ts'
import { installByHand, missingCommands } from '../host-setup/packages.ts'
import { findCommand } from '../host-setup/system.ts'
import { systemClock } from '../kernel/clock.ts'
import { openDb, type Db } from '../kernel/db.ts'
import { decideHypervisor, type Decision, type Obstacle } from './hypervisor.ts'
import { showLine } from './progress.ts'

export async function openLocalHost(config: Config, url: string): Promise<void> {
  const { hosts, pools } = readCatalog(config.catalogFile)
  const host = hosts.find(({ driver }) => driver === 'auto')
  if (!host) return // an operator's catalog without this machine
  const wanted = { host, dns: pools.find((pool) => pool.host === host.name)?.dns ?? ['1.1.1.1', '9.9.9.9'] }
  const db = openDb({ url, maxConnections: 1, onError: () => {} })
  try {
    const local = await knownHost(db, host.name)
    const inUse = local !== null && Object.values(await belongingsOf(db, local.id)).some((count) => count > 0)
    const decision = decideHypervisor(config.hypervisor, local && { driver: local.driver, inUse }, await obstacle(config))
    if (decision.kind === 'simulated') return await openSimulated(db, config, local, decision)
    const { openReal } = await import('./local-real-host.ts') // with all that prepares hosts, which others need not load
    const failed = await openReal(db, config, wanted, local, decision)
    if (failed) await openSimulated(db, config, null, { kind: 'simulated', replace: false, ...failed })
  } finally {
    await db.close()
  }
}

async function knownHost(db: Db, name: string): Promise<HostRow | null> {
  const row = await findHost(db, name)
  return row && !row.removed_at ? row : null
}

/** Why real VMs cannot even be tried here. */
async function obstacle({ hypervisor }: Config): Promise<Obstacle | null> {
  if (hypervisor === 'simulated') return null
  if (process.getuid?.() !== 0) return { why: 'real VMs take root', fix: 'sudo npm start' }
  const missing = await missingCommands()
  if (missing.length === 0 || (await findCommand('apt-get'))) return null
  return { why: `${missing.join(', ')} are not installed`, fix: installByHand }
}

async function openSimulated(db: Db, config: Config, local: HostRow | null, { replace, why, fix }: Decision): Promise<void> {
  const now = systemClock.now()
  if (replace && local) await db.tx((tx) => removeHost(tx, now, local))
  await seedDatabase(db, now, { ...config, hypervisor: 'simulated' })
  if (why) showLine('!', `simulated hypervisor: ${why}`, fix ?? '')
  else showLine('✓', 'simulated hypervisor', '')
}
