// How many connections Open vSwitch tracks for one interface of a guest. OVN gives each interface a zone of its own, and without a limit one
// guest fills the table that all of a host share. The limits are lost when ovs-vswitchd ends: with systemd its unit sets them again.
import { join } from 'node:path'
import { missing, satisfied, type Step } from './setup-step.ts'
import { BERTH_FOLDER, readFileOrNull, run, SYSTEM_PATH, writeFileAtomic } from './shell.ts'

/** About half of the ports that a host which masquerades has toward one service: no guest takes them all. */
const CONNECTIONS = 32_768
/** OVN numbers zones from 1 on: one for each interface of a guest on the host, two for each network and router there. */
const ZONES = 16_384
/** Of all zones of a kernel together, which has as many as 262,144 by default: eight guests would fill it. */
const ALL_CONNECTIONS = 32 * CONNECTIONS
const KERNEL_TABLE = '/proc/sys/net/netfilter/nf_conntrack_max'

const SCRIPT = join(BERTH_FOLDER, 'connection-limits.sh')
const DROP_IN = '/etc/systemd/system/ovs-vswitchd.service.d/berth.conf'
const dropIn = `# Written by berthd host prepare.
[Service]
ExecStartPost=-${SCRIPT}
ExecReload=-${SCRIPT}
`

/** A default is one limit for each zone in the kernel. In user space (3.1) it is one for all zones together, so each gets its own. */
export const connectionLimitCommands = (limit: number): string => `
for each in $(ovs-appctl --timeout=30 dpctl/dump-dps); do
  case $each in
    netdev@*) ovs-appctl --timeout=30 dpctl/ct-set-limits $each $(seq -f 'zone=%.0f,limit=${limit}' 1 ${ZONES}) ;;
    *)
      ovs-appctl --timeout=30 dpctl/ct-set-limits $each default=${limit}
      [ "$(cat ${KERNEL_TABLE})" -ge ${ALL_CONNECTIONS} ] || echo ${ALL_CONNECTIONS} > ${KERNEL_TABLE} || true # not in a container
      ;;
  esac
done
`

const script = ['#!/bin/sh -e', '# Written by berthd host prepare.', `PATH=${SYSTEM_PATH}`, connectionLimitCommands(CONNECTIONS)].join('\n')

/** A line for each datapath, with the limits of the first and the last zone. */
const SHOW = `for each in $(ovs-appctl --timeout=5 dpctl/dump-dps); do
  echo $each $(ovs-appctl --timeout=5 dpctl/ct-get-limits $each zone=1,${ZONES})
done`

export const connectionLimits: Step = {
  name: 'connection-limits',
  async check({ systemd }) {
    const datapaths = (await run('sh', '-ec', SHOW)).trim().split('\n')
    const unlimited = datapaths.filter((line) => line.split(`limit=${CONNECTIONS}`).length < 3)
    if (unlimited.length > 0) return missing('guests may have any number of connections')
    const isKept = !systemd || ((await readFileOrNull(SCRIPT)) === script && (await readFileOrNull(DROP_IN)) === dropIn)
    return isKept ? satisfied(`an interface of a guest has at most ${CONNECTIONS} connections`) : missing(DROP_IN)
  },
  async apply({ systemd }) {
    if (systemd) {
      await writeFileAtomic(SCRIPT, script, 0o755)
      await writeFileAtomic(DROP_IN, dropIn)
      await run('systemctl', '--quiet', 'daemon-reload')
    }
    await run('sh', '-ec', connectionLimitCommands(CONNECTIONS))
  },
}
