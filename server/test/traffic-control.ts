// `tc` for libvirtd in a sandbox. Kernels without some modules get the nearest equivalent: the tests verify what libvirt configures, not
// the kernel.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'

const REAL = '/run/real-tc'

const WORKING = `#!/bin/bash
${REAL} "$@" 2> /dev/null && exit
all="$*"
device=$(sed -n 's/.* dev \\([^ ]*\\).*/\\1/p' <<< " $all ")
case "$all" in
  *" sfq "*) exec ${REAL} \${all/sfq perturb 10/pfifo limit 256} ;;
  *" fw flowid"*) exit 0 ;;
  *police*)
    rate=$(sed -n 's/.*police rate \\([^ ]*\\).*/\\1/p' <<< "$all")
    ip link add "ifb-$device" type ifb 2> /dev/null
    ip link set "ifb-$device" up
    ${REAL} qdisc replace dev "ifb-$device" root tbf rate "$rate" burst 64kb latency 300ms
    exec ${REAL} filter add dev "$device" parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev "ifb-$device" ;;
esac
exec ${REAL} "$@"
`

const BROKEN = `#!/bin/sh
echo 'Error: Specified qdisc kind is unknown.' >&2
exit 2
`

/** A kernel with or without traffic shaping. */
export async function giveTrafficControl(sandbox: Sandbox, kernel: 'able' | 'unable'): Promise<void> {
  const path = join(sandbox.folder, `tc-${kernel}`)
  await writeFile(path, kernel === 'able' ? WORKING : BROKEN, { mode: 0o755 })
  await sandbox.inside('sh', '-ec', `[ -e ${REAL} ] || cp /usr/sbin/tc ${REAL}; mount --bind ${path} /usr/sbin/tc`)
}

export const queues = (sandbox: Sandbox): Promise<string> => sandbox.inside(REAL, 'qdisc')
