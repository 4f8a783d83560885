// A guest that is on when an interface comes has its address set at once through the agent: few systems look at an interface that
// appears by itself. From the next start on it comes by DHCP or from the seed.
import type { Domain, Host } from '@berth/libvirt'
import type { NicSpec } from '../driver.ts'
import type { Session } from './session.ts'

const AGENT_SECONDS = 5

/** Finds the interface by its MAC, for its name is the guest's own. Gives it up to 10 s to appear. */
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

/** As well as the guest allows: without an agent, or with one that may not run commands, it is left to the guest's owner. */
export async function giveAddress({ call, log, hostId }: Session, domain: Domain, nic: NicSpec, signal: AbortSignal): Promise<void> {
  await call(`give ${nic.address} to ${domain.name}`, signal, (host) =>
    runScript(host, domain, [nic.mac, `${nic.address}/${nic.prefix}`]).catch((error: unknown) =>
      log.warn({ hostId, domain: domain.name, err: error }, 'the guest did not take the address of its new interface'),
    ),
  )
}

async function runScript(host: Host, domain: Domain, args: string[]): Promise<void> {
  const command = JSON.stringify({ execute: 'guest-exec', arguments: { path: '/bin/sh', arg: ['-c', SCRIPT, ...args] } })
  await host.guests.agentCommand({ domain, command, timeoutSeconds: AGENT_SECONDS })
}
