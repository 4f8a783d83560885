// This machine as a host. The checks are those of the setup steps; nothing is changed.
import { forwarding } from '../../host-setup/forwarding.ts'
import { missingCommands, installByHand, packages } from '../../host-setup/packages.ts'
import { daemons } from '../../host-setup/libvirt-daemons.ts'
import { canLimitConnections, masquerade } from '../../host-setup/masquerade.ts'
import { oldNetwork } from '../../host-setup/old-network.ts'
import { hasKernelDatapath, openVswitch } from '../../host-setup/open-vswitch.ts'
import { connectionLimits } from '../../host-setup/connection-limits.ts'
import { ovn } from '../../host-setup/ovn.ts'
import { planHost } from '../../host-setup/plan.ts'
import type { HostPlan } from '../../host-setup/setup-step.ts'
import { pool } from '../../host-setup/pool.ts'
import { poolFiles } from '../../host-setup/pool-files.ts'
import { qemuConf } from '../../host-setup/qemu-conf.ts'
import { withLibvirt } from '../../host-setup/libvirt.ts'
import { securityModelsIn } from '../../host-setup/facts.ts'
import { SetupError, type Step } from '../../host-setup/setup-step.ts'
import { uplink } from '../../host-setup/uplink.ts'
import { uplinkNic } from '../../host-setup/uplink-nic.ts'
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
export const networkController = bySteps('OVN', openVswitch, ovn, connectionLimits)
export const publicNetwork = bySteps('public network', oldNetwork, uplinkNic, uplink, forwarding, masquerade)

export const qemu: Check = async ({ hypervisor }) => {
  if (hypervisor === 'simulated') return ok('QEMU: not needed, VMs are simulated')
  const missing = await missingCommands()
  if (missing.length > 0) return warning(`${missing.join(', ')}: not installed`, `${FIX}; by hand: ${installByHand}`)
  const { ok: complete, message } = await packages.check({} as HostPlan)
  return complete ? ok(message) : warning(message, installByHand)
}

export const range = onHost('range', async (plan) =>
  ok(
    plan.uplink
      ? `VMs get addresses of ranges that are reached by ${plan.uplink.nic}: npx berthd ip-pool list`
      : `VMs get addresses from ${formatCidr(plan.range)}, which no other route uses`,
  ),
)

/** Never a failure: without the module, packets are forwarded by a process. */
export const datapath = onHost('datapath', async () =>
  (await hasKernelDatapath())
    ? ok('the kernel forwards the packets of VMs (module openvswitch)')
    : warning(
        'this kernel has no module openvswitch: ovs-vswitchd forwards the packets of VMs, slower',
        'boot a stock kernel of Debian or Ubuntu, then npm start',
      ),
)

/** Never a failure, too: the limit of connections of an interface is a bound of its own. */
export const natPorts = onHost('NAT ports', async () =>
  (await canLimitConnections())
    ? ok('no VM takes all ports of this host toward a service (module xt_hashlimit)')
    : warning(
        'this kernel has no module xt_hashlimit: a few VMs together can take all ports of this host toward a service, such as a resolver',
        'boot a stock kernel of Debian or Ubuntu, then npm start',
      ),
)

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
