// A guest that is on when an interface comes has its address set at once through the agent: few systems look at an interface that
// appears by itself. From the next start on it comes by DHCP or from the seed.
import type { Domain } from '@berth/libvirt'
import type { NicSpec } from '../driver.ts'
import { askAgent } from './agent.ts'
import type { Session } from './session.ts'
import { pause } from './waiting.ts'

/** Finds the interface by its MAC, for its name is the guest's own. It takes the guest a moment to notice it. */
const SCRIPT = `for try in 1 2 3 4 5 6 7 8 9 10; do
  for each in /sys/class/net/*; do
    [ "$(cat "$each/address")" = "$0" ] || continue
    ip link set dev "\${each##*/}" up
    ip addr show dev "\${each##*/}" | grep -qF " $1 " || ip addr add "$1" dev "\${each##*/}"
    exit
  done
  sleep 1
done
exit 1`

/** As well as the guest allows: one whose agent does not answer, or may not run commands, is left to its owner. */
export async function giveAddress(session: Session, domain: Domain, nic: NicSpec, signal: AbortSignal): Promise<void> {
  try {
    const exitCode = await runScript(session, domain, [nic.mac, `${nic.address}/${nic.prefix}`], signal)
    if (exitCode !== 0) throw new Error(`the commands ended with ${exitCode}`)
  } catch (error) {
    if (signal.aborted) throw error
    session.log.warn({ hostId: session.hostId, domain: domain.name, err: error }, 'the guest did not take the address of its new interface')
  }
}

const POLL_MS = 200

async function runScript(session: Session, domain: Domain, args: string[], signal: AbortSignal): Promise<number> {
  const command = { path: '/bin/sh', arg: ['-c', SCRIPT, ...args] }
  const { pid } = (await askAgent(session, domain, { execute: 'guest-exec', arguments: command }, signal)) as { pid: number }
  for (;;) {
    const answer = await askAgent(session, domain, { execute: 'guest-exec-status', arguments: { pid } }, signal)
    const { exited, exitcode = -1 } = answer as { exited: boolean; exitcode?: number }
    if (exited) return exitcode
    await session.call(`wait for ${domain.name} to take its address`, signal, () => pause(POLL_MS, signal))
  }
}
