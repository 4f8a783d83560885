// Why a VM reaches a destination or not: the model of hypervisor/reachability.ts with interfaces, networks and rules of the database.
import type { NetworkSpec } from '../../../hypervisor/network-controller.ts'
import { traceReach, type Reach as Trace } from '../../../hypervisor/reachability.ts'
import type { Tx } from '../../../kernel/database/db.ts'
import { invalid } from '../../../kernel/errors.ts'
import { formatIpRange, parseIp, parseIpRange, rangeContains, type IpRange } from '../../../kernel/ip-range.ts'
import type { Deps } from '../../deps.ts'
import { compileFilters, firewallsOf, requireFamily, requirePort, rulesOf } from '../../firewalls/service.ts'
import { publicNetworkSpec } from '../../hosts/service.ts'
import { areRoutesTold, attachedNetworks, findNetwork, networkSpec, type NetworkRow } from '../../networks/service.ts'
import { arePortsApplied } from '../../ports/service.ts'
import type { CheckReach, Reach } from '../schema.ts'
import { requireVm } from './guards.ts'
import { isPlaced, portSpecs } from './ports.ts'
import { isIn, wordsFor, type Machine } from './reach-words.ts'
import { holdersOf, type VmDetails } from './sql.ts'

/** Addresses that no single machine has. */
const NO_MACHINE = ['0.0.0.0/8', '127.0.0.0/8', '224.0.0.0/3', '::/127', '::ffff:0:0/96', 'ff00::/8'].map((text) => parseIpRange(text)!)

const VM_ID = /^c[0-9a-z]{8,}$/i

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
  const words = wordsFor({ ...input, port, destination, sender, receiver, specs, elsewhere: found.elsewhere })
  const isDecided = trace?.verdict === 'BLOCKED' || trace?.steps.at(-1)!.kind === 'DESTINATION'
  const steps = trace
    ? [...trace.steps.map(words.step), ...(isDecided ? [] : [words.receiver()])]
    : [receiver!.interfaces.length === 0 ? words.receiver() : words.noRoute()]
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
  const rules = await rulesOf(tx, vm.id)
  const { ofPublic, ofPrivate } = compileFilters(rules)
  const ports = isPlaced(vm) ? await portSpecs(tx, vm) : []
  return {
    vm,
    rules,
    firewalls: await firewallsOf(tx, vm.id),
    networks: await attachedNetworks(tx, vm.id),
    isTold: await areRoutesTold(tx, vm.id),
    interfaces: ports.map((each) => ({ ...each, filter: each.networkId === null ? ofPublic : ofPrivate })),
  }
}

interface Receiver {
  /** Undefined for an address that no VM of the account has, whoever else has it. */
  vm?: VmDetails | undefined
  /** A network where a VM has the address, and that no network of the sender leads to. */
  elsewhere?: NetworkRow | undefined
}

async function findReceiver(tx: Tx, accountId: string, networks: NetworkSpec[], address: IpRange): Promise<Receiver> {
  const contains = (range: string): boolean => isIn(range, address)
  const near = [...networks, ...networks.flatMap(({ peers }) => peers)].find(({ cidr }) => contains(cidr))
  const nextHops = networks.flatMap(({ networkId, routes }) =>
    routes.flatMap(({ destination, nextHop }) => (contains(destination) ? [{ networkId, nextHop }] : [])),
  )
  const hop = near ? undefined : nextHops[0]
  const holders = await holdersOf(tx, accountId, hop?.nextHop ?? formatIpRange(address))
  const holder = holders.find(({ network_id }) => network_id === (near?.networkId ?? hop?.networkId ?? null))
  const elsewhere = near || hop ? undefined : holders.find(({ network_id }) => network_id !== null)
  return {
    vm: holder && (await requireVm(tx, accountId, holder.vm_id)),
    elsewhere: elsewhere && (await findNetwork(tx, accountId, elsewhere.network_id!)),
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
