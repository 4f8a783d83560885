// Turns a Debian or Ubuntu machine into a host: packages, daemons, storage, public network. Idempotent, also on a host with VMs: steps that
// are satisfied change nothing.
import { bootUnit } from './boot-unit.ts'
import { connectionLimits } from './connection-limits.ts'
import { deadPorts } from './dead-ports.ts'
import { daemons } from './libvirt-daemons.ts'
import { forwarding } from './forwarding.ts'
import { kvmDevice } from './kvm-device.ts'
import { masquerade } from './masquerade.ts'
import { migration } from './migration.ts'
import { savedState } from './saved-state.ts'
import { oldNetwork } from './old-network.ts'
import { openVswitch } from './open-vswitch.ts'
import { ovn } from './ovn.ts'
import { packages } from './packages.ts'
import { planHost, type PlanOptions } from './plan.ts'
import type { HostPlan } from './setup-step.ts'
import { pool } from './pool.ts'
import { poolFiles } from './pool-files.ts'
import { qemuConf } from './qemu-conf.ts'
import { selfTest } from './self-test.ts'
import { recordOutcomes, runStep, SetupError, type Outcome, type Step } from './setup-step.ts'
import { findCommand } from './shell.ts'
import { tls } from './tls.ts'
import { uplink } from './uplink.ts'
import { settleUplink } from './uplink-change.ts'
import { uplinkNic } from './uplink-nic.ts'
import { waitingTimes } from './waiting-times.ts'

const STEPS: Step[] = [
  savedState,
  qemuConf,
  tls,
  migration,
  kvmDevice,
  waitingTimes,
  daemons,
  pool,
  poolFiles,
  oldNetwork,
  openVswitch,
  uplinkNic,
  ovn,
  connectionLimits,
  deadPorts,
  forwarding,
  masquerade,
  uplink,
  bootUnit,
]

export interface PrepareOptions extends PlanOptions {
  dryRun?: boolean
  /** `changed`: only when a step changed something. */
  selfTest?: 'always' | 'changed' | 'never'
}

export interface Prepared {
  plan: HostPlan | null
  outcomes: Outcome[]
}

/** Stops at the first step that fails. Calls `report` for every step. */
export async function prepareHost(options: PrepareOptions, report: (outcome: Outcome) => void = () => {}): Promise<Prepared> {
  const { outcomes, record } = recordOutcomes(report)
  const dryRun = options.dryRun ?? false
  if (process.getuid?.() !== 0) {
    record({ step: 'root', status: 'failed', message: 'Preparing a host needs root', fix: 'run it with sudo' })
    return { plan: null, outcomes }
  }
  if (!record(await runStep(packages, {} as HostPlan, dryRun)) || !(await findCommand('ip'))) return { plan: null, outcomes }
  if (!dryRun) await settleUplink()
  const plan = await planHost(options).catch((error: unknown) => {
    if (!(error instanceof SetupError)) throw error
    record({ step: 'range', status: 'failed', message: error.message, fix: error.fix })
  })
  if (!plan) return { plan: null, outcomes }
  for (const step of STEPS) if (!record(await runStep(step, plan, dryRun))) return { plan, outcomes }
  const wanted = options.selfTest ?? 'always'
  const changed = outcomes.some(({ status }) => status === 'done')
  // Only network controllers may write what the test needs.
  const canTest = plan.chassis === null
  if (!dryRun && canTest && (wanted === 'always' || (wanted === 'changed' && changed))) record(await selfTest())
  return { plan, outcomes }
}
