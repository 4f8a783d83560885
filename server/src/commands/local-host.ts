// This machine as a host, when the product starts: decided, prepared where something is missing, and registered with what it has. On a
// machine that is ready it is only looked at.
import { statfs } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { readCatalog, type CatalogHost } from '../features/catalog/fill.ts'
import { fillIn } from '../features/fill.ts'
import { belongingsOf, findHost, listPools, registerHost, removeHost, type HostRow } from '../features/hosts/service.ts'
import { capacityOf, readFacts, type Facts } from '../host-setup/facts.ts'
import { withLibvirt } from '../host-setup/libvirt.ts'
import { installByHand, missingCommands } from '../host-setup/packages.ts'
import type { HostPlan } from '../host-setup/plan.ts'
import { prepareHost } from '../host-setup/prepare.ts'
import type { Outcome } from '../host-setup/step.ts'
import { findCommand } from '../host-setup/system.ts'
import { formatCidr } from '../kernel/cidr.ts'
import { stopwatch, systemClock } from '../kernel/clock.ts'
import { openDb, type Db } from '../kernel/db.ts'
import { accelerationOf } from './host-add.ts'
import { decideHypervisor, type Decision, type Obstacle } from './hypervisor.ts'
import { say, showLine, step } from './progress.ts'

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
    await (decision.kind === 'libvirt' ? openReal(db, config, wanted, local, decision) : openSimulated(db, config, local, decision))
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
  await fillIn(db, now, { ...config, hypervisor: 'simulated' })
  if (why) showLine('!', `simulated hypervisor: ${why}`, fix ?? '')
  else showLine('✓', 'simulated hypervisor', '')
}

async function openReal(db: Db, config: Config, wanted: Local, local: HostRow | null, decision: Decision): Promise<void> {
  const elapsed = stopwatch()
  const registered = local?.driver === 'libvirt' ? local : null
  const range = registered ? (await listPools(db)).find(({ host_id }) => host_id === registered.id)?.cidr : undefined
  const { plan, outcomes } = await prepareHost({ range, selfTest: 'changed' }, reporter())
  const failed = outcomes.find(({ status }) => status === 'failed')
  if (failed || !plan) {
    const reason = { why: failed?.says ?? 'it cannot be prepared', fix: failed?.fix ?? 'npx berthd host prepare' }
    // Nothing is real yet, and nobody has asked for it to be.
    if (config.hypervisor === 'auto' && !registered)
      return openSimulated(db, config, null, { kind: 'simulated', replace: false, ...reason })
    throw new Error(`${reason.why}\nTo mend it: ${reason.fix}`)
  }
  const facts = await localFacts(plan)
  if (!registered) await register(db, wanted, plan, facts, decision.replace ? local : null)
  const emulated = accelerationOf(facts) === 'emulation'
  const changed = outcomes.some(({ status }) => status === 'done')
  if (!changed)
    showLine(
      '✓',
      `libvirt ${facts.libvirt}${emulated ? ', emulated' : ''}, network ${formatCidr(plan.range)}`,
      `${(elapsed() / 1000).toFixed(1)} s`,
    )
  else if (emulated) showLine('!', 'no usable KVM: VMs run emulated, slower', 'npm run doctor -- kvm')
}

/** libvirt counts what the file system keeps for root as free; on this machine it can be known better. */
async function localFacts({ poolPath }: HostPlan): Promise<Facts> {
  const facts = await withLibvirt(readFacts)
  const { bavail, bsize } = await statfs(poolPath)
  return { ...facts, diskFreeGiB: Math.min(facts.diskFreeGiB ?? 0, Math.floor((bavail * bsize) / 2 ** 30)) }
}

/** What had to be done, one line each with its time; what was there already is told in one line at the end. */
function reporter(): (outcome: Outcome) => void {
  let elapsed = stopwatch()
  return ({ step: name, status, says, fix }) => {
    const took = `${(elapsed() / 1000).toFixed(1)} s`
    elapsed = stopwatch()
    if (status === 'failed') {
      showLine('✗', says, took)
      if (fix) say(`     ${fix}`)
    } else if (status === 'done' || name === 'self-test') showLine('✓', says, took)
  }
}

interface Local {
  host: CatalogHost
  dns: string[]
}

async function register(db: Db, { host: wanted, dns }: Local, plan: HostPlan, facts: Facts, outdated: HostRow | null): Promise<void> {
  const now = systemClock.now()
  await step(
    `host ${wanted.name}`,
    () =>
      db.tx(async (tx) => {
        if (outdated) await removeHost(tx, now, outdated)
        return registerHost(tx, now, {
          name: wanted.name,
          region: wanted.region,
          uri: 'qemu:///system',
          arch: facts.arch,
          acceleration: accelerationOf(facts),
          ...capacityOf(facts),
          range: { cidr: formatCidr(plan.range), gateway: plan.gateway, dns },
        })
      }),
    ({ name, vcpu_total, ram_total_mib, disk_total_gib }) => ({
      label: `host ${name}: ${vcpu_total} CPUs, ${ram_total_mib} MiB, ${disk_total_gib} GiB for VMs`,
    }),
  )
}
