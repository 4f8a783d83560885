// Addresses and routes that the guest agent configures. Private addresses are configured through the guest agent: when an interface is attached, because few systems configure a
// hotplugged one, and after every start, because cloud-init reads its seed at the first boot only, and DHCP may be off. Scripts get their values as arguments.
import type { Domain } from '@berth/libvirt'
import { DriverError, type GuestAddress, type GuestRoutes } from '../../driver.ts'
import { formatCidr, parseCidr } from '../../../kernel/cidr.ts'
import { runScript } from '../domain/guest-script.ts'
import { interfacesOf, macOf, privateAddressOf } from '../xml/interface-xml.ts'
import type { MachineState } from '../domain/lookup.ts'
import type { HostContext } from '../core/host-context.ts'

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

/**
 * The gateway must learn the interface of an address that another guest had a moment ago. A request for the gateway's own address carries
 * the sender's, and every system learns from it; where there is no arping, a forgotten neighbour makes the kernel send one. A gateway that
 * heard of the address less than a second ago does not change its mind, hence the repetition.
 */
const FLOATING_SCRIPT = `for each in /sys/class/net/*; do
  [ "$(cat "$each/address")" = "$0" ] || continue
  dev="\${each##*/}"
  if [ "$3" = remove ]; then
    ip addr show dev "$dev" | grep -qF " $1/32 " || exit 0
    exec ip addr del "$1/32" dev "$dev"
  fi
  ip addr show dev "$dev" | grep -qF " $1/32 " || ip addr add "$1/32" dev "$dev" || exit 1
  {
    if command -v arping; then
      arping -c 3 -I "$dev" -s "$1" "$2" &
      arping -U -c 2 -I "$dev" -s "$1" "$1"
    else
      for try in 1 2 3; do
        ip neigh del "$2" dev "$dev"
        ping -c 1 -W 1 -I "$1" "$2"
        sleep 1
      done
    fi
  } < /dev/null > /dev/null 2>&1 &
  exit 0
done
exit 1`

/** Nobody else has the number: what has it is ours. The metric is larger than any that a guest chooses itself, so that its own routes to the same range go first; still larger ones
 *  busybox prints as negative. */
const OURS = 'proto 98 metric 2147483647'

/**
 * Arguments: gateways, each followed by its ranges. The kernel finds the interface by the gateway: the guest may have a bridge on it. busybox lists routes of all protocols, but
 * deletes only those of the one it is given: whatever else has our metric stays.
 */
export const ROUTES_SCRIPT = `failed=0
newline='
'
wanted=$newline
for arg; do
  case $arg in
    */*) wanted="$wanted\${arg%/32} via $gateway$newline" ;;
    *) gateway=$arg ;;
  esac
done
has=$newline$(ip -4 route show proto 98 | while read -r range via gateway rest; do
  case " $rest " in *' metric 2147483647 '*) echo "$range via $gateway" ;; esac
done)$newline
while read -r route; do
  case $newline$wanted in *"$newline$route$newline"*) ;; *) ip route del $route ${OURS} ;; esac
done <<END
$has
END
while read -r route; do
  case $newline$has in *"$newline$route$newline"*) ;; *) ip route add $route ${OURS} || failed=1 ;; esac
done <<END
$wanted
END
exit $failed`

/** `transient` where the guest refuses. It may lack addresses: after a reboot of its own, those of interfaces that were attached while it ran. */
export async function configureGuestRoutes(
  context: HostContext,
  machine: MachineState,
  routes: readonly GuestRoutes[],
  signal: AbortSignal,
): Promise<void> {
  const args = routes.flatMap(({ gateway, ranges }) => [gateway, ...ranges.map((range) => formatCidr(parseCidr(range)!))])
  const configure = async (): Promise<number> => (await runScript(context, machine.domain, ROUTES_SCRIPT, ['sh', ...args], signal)).exitCode
  if ((await configure()) === 0) return
  await configureGuestAddresses(context, machine, signal)
  const exitCode = await configure()
  if (exitCode !== 0)
    throw new DriverError('transient', `The guest of ${machine.domain.name} failed to configure routes: exit code ${exitCode}`)
}

/** `transient` where the guest refuses. */
export async function changeFloatingAddress(
  context: HostContext,
  domain: Domain,
  { mac, address, gateway }: GuestAddress,
  change: 'add' | 'remove',
  signal: AbortSignal,
): Promise<void> {
  const { exitCode } = await runScript(context, domain, FLOATING_SCRIPT, [mac, address, gateway, change], signal)
  if (exitCode !== 0)
    throw new DriverError('transient', `The guest of ${domain.name} failed to ${change} ${address}: exit code ${exitCode}`, {
      userMessage: 'The guest failed to configure the address.',
    })
}

/** Best effort: a guest whose agent does not respond, does not end the script, or may not run commands, is left to its owner. False for those. */
export async function configureGuestAddress(context: HostContext, domain: Domain, nic: Address, signal: AbortSignal): Promise<boolean> {
  const warn = (err: unknown): void =>
    context.log.warn({ hostId: context.hostId, domain: domain.name, err }, 'configuring guest interface address failed')
  try {
    const { exitCode } = await runScript(context, domain, SCRIPT, [nic.mac, nic.address], signal)
    if (exitCode !== 0) warn(new Error(`the script exited with ${exitCode}`))
    return true
  } catch (error) {
    if (signal.aborted) throw error
    warn(error)
    return false
  }
}

/** Of all private interfaces, once the agent responds. */
export async function configureGuestAddresses(context: HostContext, { domain, xml }: MachineState, signal: AbortSignal): Promise<void> {
  for (const nic of interfacesOf(xml)) {
    const address = privateAddressOf(nic)
    if (address && !(await configureGuestAddress(context, domain, { mac: macOf(nic), address }, signal))) return
  }
}
