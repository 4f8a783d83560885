// What the customer reads of each step of a packet, and what to do where it does not pass.
import { CLOSED_RANGES, type NetworkSpec } from '../../../hypervisor/network-controller.ts'
import type { ReachQuestion, Step as TraceStep } from '../../../hypervisor/reachability.ts'
import { parseIp, parseIpRange, rangeContains, type IpRange } from '../../../kernel/ip-range.ts'
import { toRule, type BoundFirewall, type VmRules } from '../../firewalls/service.ts'
import type { NetworkRow } from '../../networks/service.ts'
import type { CheckReach, ReachStep } from '../schema.ts'
import type { VmDetails } from './sql.ts'

/** One end of the connection, with the rules that its filters were compiled from. */
export interface Machine {
  vm: VmDetails
  interfaces: ReachQuestion['sender']
  rules: VmRules
  firewalls: BoundFirewall[]
  /** Its private ones, in attachment order. */
  networks: NetworkRow[]
  /** Whether its guest knows what the routers of its networks lead to. */
  isTold: boolean
}

export const isIn = (range: string, address: IpRange): boolean => rangeContains(parseIpRange(range)!, address)

interface Subject {
  to: string
  protocol: CheckReach['protocol']
  port: number | null
  destination: string | null
  sender: Machine
  receiver: Machine | undefined
  /** Of the sender's networks. */
  specs: NetworkSpec[]
  /** A network where a VM has the destination, and that no network of the sender leads to. */
  elsewhere: NetworkRow | undefined
}

const step = (name: ReachStep['step'], passes: boolean, detail: string, remedy: string | null = null): ReachStep => ({
  step: name,
  passes,
  action: null,
  firewallId: null,
  rule: null,
  detail,
  remedy: passes ? null : remedy,
  missingPeering: null,
})

const ACTION_WORDS = { ACCEPT: 'accepts', DROP: 'drops', REJECT: 'rejects' }

const hasGateway = ({ gateway }: NetworkRow): boolean => gateway !== null

const capitalize = (sentence: string): string => sentence[0]!.toUpperCase() + sentence.slice(1)

/** Its agent has not said that it knows the way, and its default route leads elsewhere than to the router of that network. */
const needsRoute = ({ vm, networks, isTold }: Machine, networkId: string): boolean =>
  !isTold && (vm.ip_address !== null || networks.find(({ snat_address }) => snat_address !== null)?.id !== networkId)

/** What the customer reads of each step. */
export function wordsFor({ protocol, port, to, destination, sender, receiver, specs, elsewhere }: Subject) {
  const traffic = port === null ? protocol : `${protocol} port ${port}`
  const nameOf = (networkId: string | null): string => {
    const network = [...sender.networks, ...(receiver?.networks ?? [])].find(({ id }) => id === networkId)
    return network ? `the network ${network.name} (${network.cidr})` : 'the public network'
  }
  const running = (name: 'SENDER' | 'RECEIVER', { vm }: Machine): ReachStep => {
    const remedy =
      vm.shelved_at !== null ? 'Unshelve it' : vm.status === 'STOPPED' ? 'Start it' : 'Wait until it is RUNNING, or see its statusReason'
    return step(name, vm.status === 'RUNNING', `${vm.name} is ${vm.shelved_at === null ? vm.status : 'shelved'}`, remedy)
  }

  function filter({ kind, networkId, decision, passes }: Extract<TraceStep, { decision: unknown }>): ReachStep {
    const inbound = kind === 'INBOUND_FILTER'
    const machine = inbound ? receiver! : sender
    const where = `${inbound ? 'into' : 'out of'} ${machine.vm.name}`
    const rules = machine.rules[networkId === null ? 'ofPublic' : 'ofPrivate']
    const rule = decision.ruleIndex === null ? null : toRule(rules![decision.ruleIndex]!)
    const { action } = decision
    const detail = rule
      ? `Rule ${rule.position} of the firewall ${machine.firewalls.find(({ id }) => id === rule.firewallId)!.name} ${ACTION_WORDS[action]} ${traffic} ${where}`
      : rules === null
        ? `No firewall filters what goes ${where} by ${nameOf(networkId)}`
        : `No rule matches, and the default ${ACTION_WORDS[action]} what goes ${where}`
    const names = machine.firewalls.filter(({ covers_private }) => networkId === null || covers_private).map(({ name }) => name)
    const remedy = rule
      ? `Change the rule, or put one before it that accepts ${traffic}`
      : `Add a rule that accepts ${traffic} to ${names.length === 1 ? 'the firewall' : 'one of the firewalls'} ${names.join(', ')}`
    return { ...step(kind, passes, detail, remedy), action, firewallId: rule?.firewallId ?? null, rule }
  }

  function route({ way, networkId }: Extract<TraceStep, { kind: 'ROUTE' }>): ReachStep {
    if (way === 'NONE') return noRoute()
    const address = sender.networks.find(({ id }) => id === networkId)?.snat_address
    if (way === 'SNAT') return step('ROUTE', true, `By the gateway of ${nameOf(networkId)}, which translates its address to ${address}`)
    if (way === 'GATEWAY') return step('ROUTE', true, `By the gateway of ${nameOf(null)}, which must know the way to ${destination}`)
    if (way === 'PEER' || way === 'VIA') return announced(specs.find((each) => each.networkId === networkId)!)
    return step('ROUTE', true, `By ${nameOf(networkId)}`)
  }

  /** What the router of the network leads to. Guests learn it from their agents, or from DHCP. */
  function announced({ networkId, cidr, gateway, peers, routes }: NetworkSpec): ReachStep {
    const address = parseIp(destination!)!
    const peer = peers.find((each) => isIn(each.cidr, address))
    const range = peer?.cidr ?? routes.find((each) => isIn(each.destination, address))!.destination
    const there = needsRoute(sender, networkId) ? [`"ip route add ${range} via ${gateway}" in ${sender.vm.name}`] : []
    const answers = peer && receiver && needsRoute(receiver, peer.networkId)
    const back = answers ? [`"ip route add ${cidr} via ${peer.gateway}" in ${receiver.vm.name}`] : []
    const detail = peer ? `${nameOf(networkId)} and its peering with the network of ${destination}` : `a route of ${nameOf(networkId)}`
    const commands = [...there, ...back].join(' and ')
    const remedy =
      commands && `The guest agent has not configured the way yet, or there is none: unless the guest asks DHCP, run ${commands}`
    return { ...step('ROUTE', true, `By ${detail}`), remedy: remedy || null }
  }

  /** What would connect the VMs by private networks, if something would. */
  function connection(): Pick<ReachStep, 'remedy' | 'missingPeering'> | undefined {
    const isNear = ({ region_id }: { region_id: string }): boolean => region_id === sender.vm.region_id
    const mine = sender.networks.find(hasGateway)
    const theirs = (elsewhere ? [elsewhere] : (receiver?.networks ?? [])).filter(isNear)
    const other = theirs.find(hasGateway)
    if (mine && other) {
      const missingPeering = [mine, other].map(({ id, name }) => ({ id, name }))
      return { remedy: `connect the networks ${mine.name} and ${other.name} by a peering`, missingPeering }
    }
    const by = (remedy: string) => ({ remedy, missingPeering: null })
    if (elsewhere && !isNear(elsewhere))
      return by(`use a public address of its VM: the network ${elsewhere.name} is in another region than ${sender.vm.name}`)
    if (elsewhere)
      return by(`attach ${sender.vm.name} to the network ${elsewhere.name}${hasGateway(elsewhere) ? ', or to a peer of it' : ''}`)
    return receiver && isNear(receiver.vm) ? by('attach both VMs to one private network') : undefined
  }

  const nobodyHasIt = (): string => `No VM of this account has ${destination}: use the address of one in a network of ${sender.vm.name}`

  function noRoute(): ReachStep {
    const isIpv6 = (destination ?? '').includes(':') || protocol === 'ICMPV6'
    const [family, other] = isIpv6 ? ['IPv6', 'IPv4'] : ['IPv4', 'IPv6']
    const detail =
      destination === null ? `${receiver!.vm.name} has no ${family} address` : `${sender.vm.name} has no ${family} address that leads there`
    const isPrivate = destination !== null && CLOSED_RANGES.some((range) => isIn(range, parseIp(destination)!))
    if (isPrivate && !receiver && !elsewhere) return step('ROUTE', false, detail, nobodyHasIt())
    const hasOther = ({ interfaces }: Machine): boolean =>
      interfaces.some(({ networkId, addresses }) => networkId === null && addresses.some((each) => each.includes(':') !== isIpv6))
    const canUseOther = hasOther(sender) && (!receiver || hasOther(receiver)) && !elsewhere
    const found = protocol === 'ICMPV6' ? undefined : connection()
    const remedy =
      found?.remedy ??
      (isIpv6
        ? `${canUseOther ? '' : 'use '}VMs with a public IPv6 address: private networks have none`
        : `attach ${sender.vm.name} to a network whose gateway leads to the internet (SNAT)`)
    return {
      ...step('ROUTE', false, detail, capitalize(canUseOther ? `use ${other}, or ${remedy}` : remedy)),
      missingPeering: found?.missingPeering ?? null,
    }
  }

  function closed(by: Extract<TraceStep, { kind: 'CLOSED_RANGE' }>['closed']): ReachStep {
    if (by === null) return step('CLOSED_RANGE', true, `The public network carries traffic to ${destination}`)
    if (by === 'PORT') {
      const other = `Use another port, or one network for both VMs: in it, ${traffic} is open`
      return step(
        'CLOSED_RANGE',
        false,
        `${traffic} is kept for the hosts of the service, and closed to VMs outside of their networks`,
        other,
      )
    }
    const found = connection()
    const remedy =
      found?.remedy ??
      (receiver ? `ask support: ${receiver.vm.name} is in another region, and has no address that leads there` : nobodyHasIt())
    const detail = `${destination} is in a private range, which the public network does not carry`
    return { ...step('CLOSED_RANGE', false, detail, capitalize(remedy)), missingPeering: found?.missingPeering ?? null }
  }

  function owner({ owner: who, range, address, passes }: Extract<TraceStep, { kind: 'DESTINATION' }>): ReachStep {
    const remedy = 'the address of a VM that is attached'
    if (who === 'GATEWAY') {
      const detail = `${destination} is the gateway of ${range}, which answers pings only`
      return step('DESTINATION', passes, detail, `Ping it with ICMP, or use ${remedy}`)
    }
    if (address === destination) return step('DESTINATION', passes, `Nobody in ${range} has or routes ${destination}`, `Use ${remedy}`)
    return step('DESTINATION', passes, `No VM in ${range} has ${address}, the next hop of the route`, `Let the route lead to ${remedy}`)
  }

  return {
    sender: () => running('SENDER', sender),
    receiver: () =>
      receiver ? running('RECEIVER', receiver) : step('RECEIVER', true, `${to} is no VM of this account: whether it answers is not known`),
    noRoute,
    step: (each: TraceStep): ReachStep => {
      if (each.kind === 'ROUTE') return route(each)
      if (each.kind === 'CLOSED_RANGE') return closed(each.closed)
      return each.kind === 'DESTINATION' ? owner(each) : filter(each)
    },
  }
}
