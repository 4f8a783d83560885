// Where no systemd does it, `up` as root starts the daemons of Open vSwitch and OVN again when they were killed. After a crash their own
// monitors do.
import { readFile } from 'node:fs/promises'
import { connectionLimits } from '../../host-setup/connection-limits.ts'
import { openVswitch } from '../../host-setup/open-vswitch.ts'
import { hasCentral, ovn } from '../../host-setup/ovn.ts'
import { loadHostState, planHost } from '../../host-setup/plan.ts'
import { runStep } from '../../host-setup/setup-step.ts'
import { uplinkNic } from '../../host-setup/uplink-nic.ts'
import { hasSystemd } from '../../host-setup/shell.ts'
import type { ProcessContext } from './service.ts'

const SWITCH = ['openvswitch/ovsdb-server', 'openvswitch/ovs-vswitchd', 'ovn/ovn-controller']
const CENTRAL = ['ovn/ovnnb_db', 'ovn/ovnsb_db', 'ovn/ovn-northd']
const INTERVAL_MS = 2_000

export async function superviseNetworkDaemons({ log, stack }: Pick<ProcessContext, 'log' | 'stack'>): Promise<void> {
  if (await hasSystemd()) return
  let mending = false
  const timer = setInterval(async () => {
    if (mending) return
    mending = true
    await mend(log).catch((err: unknown) => log.error({ err }, 'the daemons of OVN cannot be started'))
    mending = false
  }, INTERVAL_MS)
  stack.defer(() => clearInterval(timer))
}

async function mend(log: ProcessContext['log']): Promise<void> {
  const names = (await hasCentral({ chassis: (await loadHostState())?.chassis ?? null })) ? [...SWITCH, ...CENTRAL] : SWITCH
  const dead = (await Promise.all(names.map(async (name) => ((await isRunning(name)) ? [] : [name])))).flat()
  if (dead.length === 0) return
  log.warn({ daemons: dead }, 'starting daemons that have ended')
  const plan = await planHost({})
  for (const step of [openVswitch, ...(plan.uplink ? [uplinkNic] : []), ovn, connectionLimits]) {
    const { status, message } = await runStep(step, plan, false)
    if (status === 'failed') throw new Error(message)
  }
}

async function isRunning(name: string): Promise<boolean> {
  try {
    return process.kill(Number(await readFile(`/run/${name}.pid`, 'utf8')), 0)
  } catch {
    return false
  }
}
