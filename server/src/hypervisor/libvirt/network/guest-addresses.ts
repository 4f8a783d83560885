// Private addresses are configured through the guest agent: when an interface is attached, because few systems configure a hotplugged one,
// and after every start, because cloud-init reads its seed at the first boot only, and DHCP may be off.
import type { Domain } from '@berth/libvirt'
import { callGuestAgent } from '../domain/guest-agent.ts'
import { interfacesOf, macOf, privateAddressOf } from '../xml/interface-xml.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'
import { pollUntil } from '../core/poll.ts'

/** With its prefix. */
interface Address {
  mac: string
  address: string
}

/** Finds the interface by its MAC, because the guest chooses its name. Retries until the guest has detected it. */
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

/** Best effort: a guest whose agent does not respond, or may not run commands, is left to its owner. */
export async function configureGuestAddress(context: HostContext, domain: Domain, nic: Address, signal: AbortSignal): Promise<void> {
  try {
    const exitCode = await runScript(context, domain, [nic.mac, nic.address], signal)
    if (exitCode !== 0) throw new Error(`the script exited with ${exitCode}`)
  } catch (error) {
    if (signal.aborted) throw error
    context.log.warn({ hostId: context.hostId, domain: domain.name, err: error }, 'configuring guest interface address failed')
  }
}

/** Of all private interfaces, once the agent responds. */
export async function configureGuestAddresses(context: HostContext, { domain, xml }: MachineState, signal: AbortSignal): Promise<void> {
  for (const nic of interfacesOf(xml)) {
    const address = privateAddressOf(nic)
    if (address) await configureGuestAddress(context, domain, { mac: macOf(nic), address }, signal)
  }
}

async function runScript(context: HostContext, domain: Domain, args: string[], signal: AbortSignal): Promise<number> {
  const command = { path: '/bin/sh', arg: ['-c', SCRIPT, ...args] }
  const { pid } = (await callGuestAgent(context, domain, { execute: 'guest-exec', arguments: command }, signal)) as { pid: number }
  return pollUntil(context, `configure an address of ${domain.name}`, signal, async () => {
    const answer = await callGuestAgent(context, domain, { execute: 'guest-exec-status', arguments: { pid } }, signal)
    const { exited, exitcode = -1 } = answer as { exited: boolean; exitcode?: number }
    return exited ? exitcode : undefined
  })
}
