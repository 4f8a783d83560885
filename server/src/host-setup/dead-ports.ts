// Ports of taps that ended with the machine: after a power loss they stay in the database of Open vSwitch, which looks for the taps for ever.
import { missing, satisfied, type Step } from './setup-step.ts'
import { run } from './shell.ts'

/** libvirt makes a tap before its port. For `sh -e`. */
const forEach = (command: string): string => `
for each in $(ovs-vsctl --timeout=30 list-ports br-int 2>/dev/null); do
  case $each in vnet*) [ -e /sys/class/net/$each ] || ${command} ;; esac
done
`

export const deadPortCommands = forEach('ovs-vsctl --timeout=30 --if-exists del-port br-int $each')

export const deadPorts: Step = {
  name: 'dead-ports',
  async check() {
    const dead = (await run('sh', '-ec', forEach('echo $each'))).trim().split(/\s+/)
    return dead[0] ? missing(`ports without their taps are to be removed: ${dead.join(', ')}`) : satisfied('every port of a VM has its tap')
  },
  apply: async () => void (await run('sh', '-ec', deadPortCommands)),
}
