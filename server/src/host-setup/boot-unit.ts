// The uplink, the iptables rules and the sysctls are lost at reboot. A systemd unit restores them; without systemd, `npm start` and `berthd
// host prepare` do. Open vSwitch and OVN keep their databases, also ports of taps that are gone.
import { join } from 'node:path'
import { deadPortCommands } from './dead-ports.ts'
import { forwardingCommands } from './forwarding.ts'
import { masqueradeCommands } from './masquerade.ts'
import { OVS_SERVICE } from './open-vswitch.ts'
import type { HostPlan } from './setup-step.ts'
import { missing, satisfied, type Step } from './setup-step.ts'
import { BERTH_FOLDER, readFileOrNull, run, SYSTEM_PATH, writeFileAtomic } from './shell.ts'
import { uplinkCommands } from './uplink.ts'
import { waitingTimesCommands } from './waiting-times.ts'

const SCRIPT = join(BERTH_FOLDER, 'network.sh')
const NAME = 'berth-network.service'
const UNIT = `/etc/systemd/system/${NAME}`

export const bootUnit: Step = {
  name: 'boot',
  async check(plan) {
    if (!plan.systemd) return satisfied('after a reboot, npm start or berthd host prepare restores the network')
    const same = (await readFileOrNull(SCRIPT)) === script(plan) && (await readFileOrNull(UNIT)) === unit
    return same ? satisfied('the network is restored after a reboot') : missing(`${NAME}, which restores the network after a reboot`)
  },
  async apply(plan) {
    await writeFileAtomic(SCRIPT, script(plan), 0o755)
    await writeFileAtomic(UNIT, unit)
    await run('systemctl', '--quiet', 'daemon-reload')
    await run('systemctl', '--quiet', 'enable', NAME)
  },
}

const script = (plan: HostPlan): string =>
  [
    '#!/bin/sh -e',
    '# Written by berthd host prepare.',
    `PATH=${SYSTEM_PATH}`,
    'export LC_ALL=C',
    forwardingCommands,
    waitingTimesCommands,
    masqueradeCommands(plan),
    uplinkCommands(plan),
    deadPortCommands,
  ].join('\n')

const unit = `# Written by berthd host prepare.
[Unit]
Description=Uplink of the public network of Berth
Requires=${OVS_SERVICE}
After=${OVS_SERVICE} network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=${SCRIPT}
Restart=on-failure
RestartSec=2

[Install]
WantedBy=multi-user.target
`
