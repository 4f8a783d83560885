// This machine as a host. The checks are those of the setup steps; nothing is changed.
import { forwarding, BRIDGE_NF } from '../../host-setup/forwarding.ts'
import { missingCommands, installByHand, packages } from '../../host-setup/packages.ts'
import { daemons } from '../../host-setup/libvirt-daemons.ts'
import { masquerade } from '../../host-setup/masquerade.ts'
import { network } from '../../host-setup/network.ts'
import { planHost } from '../../host-setup/plan.ts'
import type { HostPlan } from '../../host-setup/setup-step.ts'
import { pool } from '../../host-setup/pool.ts'
import { poolFiles } from '../../host-setup/pool-files.ts'
import { qemuConf } from '../../host-setup/qemu-conf.ts'
import { withLibvirt } from '../../host-setup/libvirt.ts'
import { securityModelsIn } from '../../host-setup/facts.ts'
import { SetupError, type Step } from '../../host-setup/setup-step.ts'
import { exists, succeeds } from '../../host-setup/shell.ts'
import { uplink } from '../../host-setup/uplink.ts'
import { formatCidr } from '../../kernel/cidr.ts'
import { failure, ok, warning, type Check, type Finding } from './check.ts'

const FIX = 'npm start fixes it, as does: sudo npx berthd host prepare'

/** Checks of the host are needed only where VMs run on libvirt on this machine. */
const onHost =
  (what: string, check: (plan: HostPlan) => Promise<Finding>): Check =>
  async ({ hypervisor }) => {
    if (hypervisor === 'simulated') return ok(`${what}: not needed, VMs are simulated`)
    if (process.getuid?.() !== 0) return warning(`${what}: only root can check this`, 'sudo npm run doctor')
    try {
      return await check(await planHost({}))
    } catch (error) {
      return failure((error as Error).message, error instanceof SetupError ? error.fix : FIX)
    }
  }

const bySteps = (what: string, ...steps: Step[]): Check =>
  onHost(what, async (plan) => {
    const results = await Promise.all(steps.map((step) => step.check(plan)))
    const missing = results.filter((each) => !each.ok).map(({ message }) => message)
    return missing.length === 0 ? ok(results.map(({ message }) => message).join('; ')) : warning(missing.join('; '), FIX)
  })

export const libvirt = bySteps('libvirt', qemuConf, daemons)
export const storage = bySteps('storage pool', pool, poolFiles)
export const publicNetwork = bySteps('public network', network, uplink, masquerade)

export const qemu: Check = async ({ hypervisor }) => {
  if (hypervisor === 'simulated') return ok('QEMU: not needed, VMs are simulated')
  const missing = await missingCommands()
  if (missing.length > 0) return warning(`${missing.join(', ')}: not installed`, `${FIX}; by hand: ${installByHand}`)
  const { ok: complete, message } = await packages.check({} as HostPlan)
  return complete ? ok(message) : warning(message, installByHand)
}

export const range = onHost('range', async (plan) => ok(`VMs get addresses from ${formatCidr(plan.range)}, which no other route uses`))

export const bridgeFilter = onHost('bridge-nf', async (plan) => {
  const { ok: right, message } = await forwarding.check(plan)
  if (right) return ok(message)
  return failure(
    message,
    (await exists(BRIDGE_NF)) ? FIX : 'modprobe br_netfilter, or boot a stock kernel of Debian or Ubuntu; then npm start',
  )
})

/** Each probe runs in its own network namespace, which ends with the command: a module may be built in, loadable or missing. */
const PROBES: Record<string, string> = {
  sch_sfq: 'tc qdisc add dev lo root sfq perturb 10',
  cls_fw: 'tc qdisc add dev lo root handle 1: htb default 1 && tc filter add dev lo parent 1: protocol all prio 1 handle 1 fw flowid 1:1',
  act_police:
    'tc qdisc add dev lo ingress && tc filter add dev lo parent ffff: protocol all u32 match u32 0 0 police rate 1mbit burst 64kb mtu 64kb drop flowid :1',
}

export const modules = onHost('modules', async () => {
  const names = Object.keys(PROBES)
  const works = await Promise.all(names.map((name) => succeeds('unshare', '--net', 'sh', '-c', PROBES[name]!)))
  const missing = names.filter((_, i) => !works[i])
  if (missing.length === 0) return ok(`${names.join(', ')}: VMs can be throttled at their traffic cap`)
  return warning(
    `this kernel lacks ${missing.join(', ')}: the bandwidth of VMs is not limited, and a VM at its traffic cap is not throttled`,
    "apt-get install the kernel's extra modules, or boot a stock kernel",
  )
})

/** A guest that breaks out of its QEMU is held by the kernel's access control, if there is any, and by its own user. */
export const confinement = onHost('confinement', async () =>
  confinementOf(securityModelsIn(await withLibvirt((libvirt) => libvirt.connect.getCapabilities()))),
)

export function confinementOf(models: string[]): Finding {
  const confined = models.filter((model) => model in LABELS).map((model) => LABELS[model]!)
  const user = models.includes('dac') ? 'each guest has a user of its own' : 'all guests have one user'
  if (confined.length > 0) return ok(`guests are confined by ${confined.join(' and ')}; ${user}`)
  return warning(
    `guests are confined neither by AppArmor nor by SELinux; ${user}`,
    'apt-get install apparmor, reboot, and check with aa-status',
  )
}

const LABELS: Record<string, string> = { apparmor: 'AppArmor', selinux: 'SELinux' }
