// Open vSwitch, the switch between guests. Its database survives reboots: the bridges are made once.
import { missing, satisfied, type HostPlan, type Step } from './setup-step.ts'
import { exists, run, succeeds, SYSTEM_PATH } from './shell.ts'

export const OVS_SERVICE = 'openvswitch-switch.service'
const UNITS = [OVS_SERVICE, 'ovsdb-server.service', 'ovs-vswitchd.service']
/** At every boot it overwrites the name by which the control plane asks for this chassis with that of `hostname -f`. */
const RECORD_HOSTNAME = 'ovs-record-hostname.service'
/** A kernel that has it forwards packets itself; otherwise ovs-vswitchd does, in user space. */
export const KERNEL_DATAPATH = '/sys/module/openvswitch'

export const hasKernelDatapath = (): Promise<boolean> => exists(KERNEL_DATAPATH)

export const openVswitch: Step = {
  name: 'open-vswitch',
  async check({ systemd }) {
    const running = (await answers('ovs-appctl', 'ovs-vswitchd', 'version')) && (await succeeds('ovs-vsctl', '--timeout=5', 'show'))
    if (!running) return missing('Open vSwitch is not running')
    if (systemd && !(await isEnabled(OVS_SERVICE))) return missing(`${OVS_SERVICE} is not enabled`)
    if (systemd && (await isEnabled(RECORD_HOSTNAME))) return missing(`${RECORD_HOSTNAME} would change the name of the chassis`)
    return satisfied((await hasKernelDatapath()) ? 'Open vSwitch, in the kernel' : 'Open vSwitch, in user space: no module openvswitch')
  },
  async apply(plan) {
    await succeeds('modprobe', '-q', 'openvswitch')
    await start(
      plan,
      UNITS,
      '/usr/share/openvswitch/scripts/ovs-ctl',
      '--no-mlockall',
      '--no-record-hostname',
      '--system-id=random',
      'start',
    )
    if (plan.systemd) await succeeds('systemctl', '--quiet', 'disable', RECORD_HOSTNAME)
  },
}

/** By systemd where there is one, else by the script of the package. The first unit is the one to enable: it wants the others. */
export async function start({ systemd }: Pick<HostPlan, 'systemd'>, units: string[], script: string, ...args: string[]): Promise<void> {
  if (!systemd) return void (await runScript(script, ...args))
  await run('systemctl', '--quiet', 'enable', units[0]!)
  await run('systemctl', '--quiet', 'start', ...units)
}

/** Daemons that it starts do not get our environment. */
export const runScript = (path: string, ...args: string[]): Promise<string> =>
  run('env', '-i', `PATH=${SYSTEM_PATH}`, 'LC_ALL=C', path, ...args)

export const isEnabled = (unit: string): Promise<boolean> => succeeds('systemctl', '--quiet', 'is-enabled', unit)

/** What a daemon says to a command, or null when it does not run. */
export const answers = (tool: 'ovs-appctl' | 'ovn-appctl', daemon: string, ...command: string[]): Promise<string | null> =>
  run(tool, '--timeout=5', '-t', daemon, ...command).then(
    (text) => text.trim(),
    () => null,
  )
