// After a reboot the uplink, the rules and the kernel's settings are gone. Where systemd is, a unit brings them back; elsewhere `npm start`
// and `berthd host prepare` do.
import { join } from 'node:path'
import { forwardingCommands } from './forwarding.ts'
import { masqueradeCommands } from './masquerade.ts'
import { BERTH_FOLDER, type HostPlan } from './plan.ts'
import { missing, there, type Step } from './step.ts'
import { readIfThere, run, SYSTEM_PATH, writeWhole } from './system.ts'
import { uplinkCommands } from './uplink.ts'

const SCRIPT = join(BERTH_FOLDER, 'network.sh')
const NAME = 'berth-network.service'
const UNIT = `/etc/systemd/system/${NAME}`

export const atBoot: Step = {
  name: 'boot',
  async look(plan) {
    if (!plan.systemd) return there('after a reboot, npm start or berthd host prepare brings the network back')
    const same = (await readIfThere(SCRIPT)) === script(plan) && (await readIfThere(UNIT)) === unit
    return same ? there('the network comes back after a reboot') : missing(`${NAME}, which brings the network back after a reboot`)
  },
  async mend(plan) {
    await writeWhole(SCRIPT, script(plan), 0o755)
    await writeWhole(UNIT, unit)
    await run('systemctl', '--quiet', 'daemon-reload')
    await run('systemctl', '--quiet', 'enable', NAME)
  },
}

export const script = (plan: HostPlan): string =>
  [
    '#!/bin/sh -e',
    '# Written by berthd host prepare.',
    `PATH=${SYSTEM_PATH}`,
    forwardingCommands,
    uplinkCommands(plan),
    masqueradeCommands(plan),
  ].join('\n')

const unit = `# Written by berthd host prepare.
[Unit]
Description=Uplink of the public network of Berth
Requires=libvirtd.service
After=libvirtd.service network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${SCRIPT}
Restart=on-failure
RestartSec=2

[Install]
WantedBy=multi-user.target
`
