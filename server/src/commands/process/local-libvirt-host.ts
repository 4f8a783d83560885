// Sets up this machine as a libvirt host where something is missing, and registers it with its capacity.
import { statfs } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import type { CatalogHost } from '../../features/catalog/seed.ts'
import { getRegion } from '../../features/catalog/service.ts'
import { listRanges, registerHost, removeHost, type HostRow } from '../../features/hosts/service.ts'
import { accelerationOf, readFacts, type Facts } from '../../host-setup/facts.ts'
import { sellableCapacity } from '../../hypervisor/sellable-capacity.ts'
import { withLibvirt } from '../../host-setup/libvirt.ts'
import { hasKernelDatapath } from '../../host-setup/open-vswitch.ts'
import type { HostPlan } from '../../host-setup/setup-step.ts'
import { prepareHost } from '../../host-setup/prepare.ts'
import type { Outcome } from '../../host-setup/setup-step.ts'
import { formatCidr } from '../../kernel/cidr.ts'
import { stopwatch, systemClock } from '../../kernel/clock.ts'
import type { Db } from '../../kernel/database/db.ts'
import { cpuSupportsKvm } from '../doctor/kvm.ts'
import { print, showLine, step } from '../output.ts'
import { counted } from '../../kernel/counted.ts'

export interface Obstacle {
  why: string
  fix: string
}

/** Returns why it failed when a simulated host may be used instead; throws otherwise. */
export async function openLibvirtHost(
  db: Db,
  config: Config,
  wanted: Local,
  local: HostRow | null,
  replace: boolean,
): Promise<Obstacle | null> {
  const elapsed = stopwatch()
  const registered = local?.driver === 'libvirt' ? local : null
  const range = registered
    ? (await listRanges(db)).find(({ host_id, cidr }) => host_id === registered.id && !cidr.includes(':'))?.cidr
    : undefined
  const { plan, outcomes } = await prepareHost({ range, allowed: config.guestAllowedRanges, selfTest: 'changed' }, reporter())
  const failed = outcomes.find(({ status }) => status === 'failed')
  if (failed || !plan) {
    const reason = { why: failed?.message ?? 'the host cannot be prepared', fix: failed?.fix ?? 'npx berthd host prepare' }
    // Nothing runs on libvirt yet and the setting does not require it, so the caller may fall back.
    if (config.hypervisor === 'auto' && !registered) return reason
    throw new Error(`${reason.why}\nTo fix it: ${reason.fix}`)
  }
  const facts = await localFacts(plan)
  // Registered by a version before OVN: its region has no network controller.
  const outdated = replace || (registered && !(await getRegion(db, registered.region_id)).network_controller)
  if (!registered || outdated) await register(db, wanted, plan, facts, outdated ? local : null)
  // What QEMU offers, what a probe guest showed at an earlier start, and what the processor lacks.
  const emulated = accelerationOf(facts) === 'emulation' || registered?.acceleration === 'emulation' || (await cpuSupportsKvm()) === false
  const changed = outcomes.some(({ status }) => status === 'done')
  if (!changed) showLine('✓', `libvirt ${facts.libvirt}, OVN, network ${formatCidr(plan.range)}`, `${(elapsed() / 1000).toFixed(1)} s`)
  if (emulated) showLine('!', 'no usable KVM: VMs run emulated, slower', 'npm run doctor -- kvm')
  if (!(await hasKernelDatapath())) showLine('!', 'no module openvswitch: networks run in user space, slower', 'npm run doctor -- datapath')
  return null
}

/** libvirt counts the blocks reserved for root as free; statfs gives what is really available. */
async function localFacts({ poolPath }: HostPlan): Promise<Facts> {
  const facts = await withLibvirt(readFacts)
  const { bavail, bsize } = await statfs(poolPath)
  return { ...facts, diskFreeGiB: Math.min(facts.diskFreeGiB ?? 0, Math.floor((bavail * bsize) / 2 ** 30)) }
}

/** Prints the steps that changed something, with their duration. */
function reporter(): (outcome: Outcome) => void {
  let elapsed = stopwatch()
  return ({ step: name, status, message, fix }) => {
    const took = `${(elapsed() / 1000).toFixed(1)} s`
    elapsed = stopwatch()
    if (status === 'failed') {
      showLine('✗', message, took)
      if (fix) print(`     ${fix}`)
    } else if (status === 'done' || name === 'self-test') showLine('✓', message, took)
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
          hostname: facts.hostname,
          region: wanted.region,
          uri: 'qemu:///system',
          arch: facts.arch,
          acceleration: accelerationOf(facts),
          guestTypes: facts.guestTypes,
          ...sellableCapacity(facts),
          range: plan.uplink ? null : { cidr: formatCidr(plan.range), gateway: plan.gateway, dns },
        })
      }),
    ({ name, vcpu_total, ram_total_mib, disk_total_gib }) => ({
      label: `host ${name}: ${counted(vcpu_total, 'CPU')}, ${ram_total_mib} MiB, ${disk_total_gib} GiB for VMs`,
    }),
  )
}
