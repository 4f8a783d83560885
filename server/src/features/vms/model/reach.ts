// Why a VM reaches a destination or not: the model of hypervisor/reachability.ts with interfaces, networks and rules of the database, in words.
import type { NetworkSpec } from '../../../hypervisor/network-controller.ts'
import { traceReach, type ReachQuestion, type Reach as Trace, type Step as TraceStep } from '../../../hypervisor/reachability.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { invalid } from '../../../kernel/errors.ts'
import { formatIpRange, parseIp, parseIpRange, rangeContains, type IpRange } from '../../../kernel/ip-range.ts'
import type { Deps } from '../../deps.ts'
import { compileFilters, firewallsOf, requireFamily, requirePort, rulesOf, toRule, type VmRules } from '../../firewalls/service.ts'
import { publicNetworkSpec } from '../../hosts/service.ts'
import { areRoutesTold, attachedNetworks, networkSpec, type NetworkRow } from '../../networks/service.ts'
import { arePortsApplied } from '../../ports/service.ts'
import type { CheckReach, Reach, ReachStep } from '../schema.ts'
import { requireVm } from './guards.ts'
import { isPlaced, portSpecs } from './ports.ts'
import { holdersOf, type VmDetails } from './sql.ts'

/** Addresses that no single machine has. */
const NO_MACHINE = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/3', '::/127', '::ffff:0:0/96', 'ff00::/8'].map((text) => parseIpRange(text)!)

const VM_ID = /^c[0-9a-z]{8,}$/i

/** One end of the connection, with the rules that its filters were compiled from. */
interface Machine {
  vm: VmDetails
  interfaces: ReachQuestion['sender']
  rules: VmRules
  /** By id. */
  firewalls: Map<string, string>
  /** Its private ones, in attachment order. */
  networks: NetworkRow[]
  /** Whether its guest knows what the routers of its networks lead to. */
  isTold: boolean
}

export async function checkReach(tx: Tx, config: Deps['config'], accountId: string, vmId: string, input: CheckReach): Promise<Reach> {
  const { protocol, port = null } = input
  requirePort({ protocol, port })
  const address = parseIp(input.to)
  if (address) requireMachineAddress(address, input)
  else if (!VM_ID.test(input.to)) throw invalid('to must be an IP address or the id of a VM', 'to')
  const sender = await loadMachine(tx, await requireVm(tx, accountId, vmId))
  const specs: NetworkSpec[] = []
  for (const network of sender.networks) specs.push(await networkSpec(tx, network))
  const found = address ? await findReceiver(tx, accountId, specs, address) : { vm: await requireVm(tx, accountId, input.to) }
  if (found.vm?.id === vmId) throw invalid('to is the VM itself: name another VM or address', 'to')
  const receiver = found.vm && (await loadMachine(tx, found.vm))
  const world = { networks: specs, publicNetwork: await publicNetworkSpec({ db: tx, config }, sender.vm.region_id) }
  const destinations = address ? [formatIpRange(address)] : destinationsAt(receiver!, world.networks, protocol)
  const ask = (destination: string): Trace =>
    traceReach({ ...world, sender: sender.interfaces, receiver: receiver?.interfaces ?? [], destination, protocol, port })
  const traces = sender.vm.status === 'RUNNING' ? destinations.map((destination) => ({ destination, ...ask(destination) })) : []
  const trace = traces.find(({ verdict }) => verdict !== 'BLOCKED') ?? traces[0]
  const destination = trace?.destination ?? destinations[0] ?? null
  const words = wordsFor({ ...input, port, destination, sender, receiver, specs, attachTo: found.attachTo })
  const isDecided = trace?.verdict === 'BLOCKED' || trace?.steps.at(-1)!.kind === 'DESTINATION'
  const steps = trace ? [...trace.steps.map(words.step), ...(isDecided ? [] : [words.receiver()])] : [words.noRoute()]
  const all = sender.vm.status === 'RUNNING' ? [words.sender(), ...steps] : [words.sender()]
  return {
    verdict: all.every(({ passes }) => passes) ? trace!.verdict : 'BLOCKED',
    source: { vmId, networkId: trace?.source?.networkId ?? null, address: trace?.source?.address ?? null },
    destination: { vmId: receiver?.vm.id ?? null, address: destination },
    applied: await arePortsApplied(tx, [vmId, ...(receiver ? [receiver.vm.id] : [])]),
    steps: all,
  }
}

function requireMachineAddress(address: IpRange, { to, protocol }: CheckReach): void {
  requireFamily(protocol, to, 'to')
  if (NO_MACHINE.some((range) => rangeContains(range, address))) throw invalid(`to ${to} is no address of a machine`, 'to')
}

async function loadMachine(tx: Tx, vm: VmDetails): Promise<Machine> {
  const [rules, firewalls] = [await rulesOf(tx, vm.id), await firewallsOf(tx, vm.id)]
  const { ofPublic, ofPrivate } = compileFilters(rules)
  const ports = isPlaced(vm) ? await portSpecs(tx, vm) : []
  return {
    vm,
    rules,
    firewalls: new Map(firewalls.map(({ id, name }) => [id, name])),
    networks: await attachedNetworks(tx, vm.id),
    isTold: await areRoutesTold(tx, vm.id),
    interfaces: ports.map((each) => ({ ...each, filter: each.networkId === null ? ofPublic : ofPrivate })),
  }
}

interface Receiver {
  /** Undefined for an address that no VM of the account has, whoever else has it. */
  vm?: VmDetails | undefined
  /** A network that the sender is not in and where a VM has the address. */
  attachTo?: string | undefined
}

const isIn = (range: string, address: IpRange): boolean => rangeContains(parseIpRange(range)!, address)

async function findReceiver(tx: Tx, accountId: string, networks: NetworkSpec[], address: IpRange): Promise<Receiver> {
  const contains = (range: string): boolean => isIn(range, address)
  const near = [...networks, ...networks.flatMap(({ peers }) => peers)].find(({ cidr }) => contains(cidr))
  const nextHops = networks.flatMap(({ networkId, routes }) =>
    routes.flatMap(({ destination, nextHop }) => (contains(destination) ? [{ networkId, nextHop }] : [])),
  )
  const hop = near ? undefined : nextHops[0]
  const holders = await holdersOf(tx, accountId, hop?.nextHop ?? formatIpRange(address))
  const holder = holders.find(({ network_id }) => network_id === (near?.networkId ?? hop?.networkId ?? null))
  return {
    vm: holder && (await requireVm(tx, accountId, holder.vm_id)),
    attachTo: holders.find(({ network_name }) => network_name !== null)?.network_name ?? undefined,
  }
}

/** Of a VM as the sender would name it: in a network of both first, then in peers of its networks, then the public ones. */
function destinationsAt({ interfaces }: Machine, networks: NetworkSpec[], protocol: CheckReach['protocol']): string[] {
  const inOneOf = (those: readonly { networkId: string }[]) =>
    interfaces.filter((each) => those.some(({ networkId }) => networkId === each.networkId))
  const [shared, peered] = [inOneOf(networks), inOneOf(networks.flatMap(({ peers }) => peers))]
  const open = interfaces.filter(({ networkId }) => networkId === null)
  return [...shared, ...peered, ...open].flatMap(({ addresses }) => addresses).filter((each) => hasProtocol(protocol, each))
}

const hasProtocol = (protocol: CheckReach['protocol'], address: string): boolean =>
  protocol === 'ICMPV6' ? address.includes(':') : protocol !== 'ICMP' || !address.includes(':')

interface Subject {
  to: string
  protocol: CheckReach['protocol']
  port: number | null
  destination: string | null
  sender: Machine
  receiver: Machine | undefined
  /** Of the sender's networks. */
  specs: NetworkSpec[]
  attachTo: string | undefined
}

const step = (name: ReachStep['step'], passes: boolean, detail: string, remedy: string | null = null): ReachStep => ({
  step: name,
  passes,
  action: null,
  firewallId: null,
  rule: null,
  detail,
  remedy: passes ? null : remedy,
})

const ACTION_WORDS = { ACCEPT: 'accepts', DROP: 'drops', REJECT: 'rejects' }

/** Its agent has not said that it knows the way, and its default route leads elsewhere than to the router of that network. */
const needsRoute = ({ vm, networks, isTold }: Machine, networkId: string): boolean =>
  !isTold && (vm.ip_address !== null || networks.find(({ snat_address }) => snat_address !== null)?.id !== networkId)

/** What the customer reads of each step. */
function wordsFor({ protocol, port, to, destination, sender, receiver, specs, attachTo }: Subject) {
  const traffic = port === null ? protocol : `${protocol} port ${port}`
  const nameOf = (networkId: string | null): string => {
    const network = [...sender.networks, ...(receiver?.networks ?? [])].find(({ id }) => id === networkId)
    return network ? `the network ${network.name} (${network.cidr})` : 'the public network'
  }
  const running = (name: 'SENDER' | 'RECEIVER', { vm }: Machine): ReachStep => {
    const remedy = vm.status === 'STOPPED' ? 'Start it' : 'Wait until it is RUNNING, or see its statusReason'
    return step(name, vm.status === 'RUNNING', `${vm.name} is ${vm.status}`, remedy)
  }

  function filter({ kind, networkId, decision, passes }: Extract<TraceStep, { decision: unknown }>): ReachStep {
    const inbound = kind === 'INBOUND_FILTER'
    const machine = inbound ? receiver! : sender
    const where = `${inbound ? 'into' : 'out of'} ${machine.vm.name}`
    const rules = machine.rules[networkId === null ? 'ofPublic' : 'ofPrivate']
    const rule = decision.ruleIndex === null ? null : toRule(rules![decision.ruleIndex]!)
    const { action } = decision
    const detail = rule
      ? `Rule ${rule.position} of the firewall ${machine.firewalls.get(rule.firewallId)} ${ACTION_WORDS[action]} ${traffic} ${where}`
      : rules === null
        ? `No firewall filters what goes ${where} by ${nameOf(networkId)}`
        : `No rule matches, and the default ${ACTION_WORDS[action]} what goes ${where}`
    const remedy = rule
      ? `Change the rule, or put one before it that accepts ${traffic}`
      : `Add a rule to a firewall ${networkId === null ? '' : 'with coversPrivate '}of ${machine.vm.name} that accepts ${traffic}`
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

  function noRoute(): ReachStep {
    const isIpv6 = (destination ?? '').includes(':') || protocol === 'ICMPV6'
    const family = isIpv6 ? 'IPv6' : 'IPv4'
    const who = destination === null ? receiver!.vm.name : sender.vm.name
    return step(
      'ROUTE',
      false,
      `${who} has no ${family} address that leads there`,
      isIpv6
        ? `Use IPv4, or VMs with a public IPv6 address: private networks have none`
        : `Use an address of the other family, or attach both VMs to one network`,
    )
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
    const remedy = attachTo
      ? `Attach ${sender.vm.name} to the network ${attachTo}, or to a peer of it`
      : receiver
        ? 'Attach both VMs to one private network'
        : `No VM of this account has ${destination}: use the address of one in a network of ${sender.vm.name}`
    return step('CLOSED_RANGE', false, `${destination} is in a private range, which the public network does not carry`, remedy)
  }

  function owner({ owner: who, range, passes }: Extract<TraceStep, { kind: 'DESTINATION' }>): ReachStep {
    if (who === 'GATEWAY')
      return step('DESTINATION', passes, `${destination} is the gateway of ${range}, which answers pings only`, 'Ping it with ICMP')
    const remedy = 'Use the address of a VM that is attached: GET /vms/{id} lists them'
    return step('DESTINATION', passes, `Nobody in ${range} has or routes ${destination}`, remedy)
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
