// How long a change of a network takes until its host has it in force, in a region with nothing and in one with 500 networks and 2,000 ports,
// and how much of this process's CPU it costs; and how long another filter of 20 ports takes, all at once, beside that of one. All in the same
// run, on real OVN with one chassis; every number is a median.
//   node --conditions=@berth/source bench/ovn.ts
import { networkController } from '../server/src/hypervisor/ovn/controller.ts'
import { openNetworkDatabase } from '../server/src/hypervisor/ovn/northbound.ts'
import { filterObject, filterRows, portObject, portRows } from '../server/src/hypervisor/ovn/port-rows.ts'
import { networkRows } from '../server/src/hypervisor/ovn/network-rows.ts'
import { publicRows } from '../server/src/hypervisor/ovn/public-rows.ts'
import { networkObject, PUBLIC } from '../server/src/hypervisor/ovn/rows.ts'
import { createLog } from '../server/src/kernel/log.ts'
import type { Filter } from '../server/src/hypervisor/spec.ts'
import { OvnRegion } from '../server/test/ovn-hosts.ts'

const NETWORKS = 500
const PORTS = 2_000
const ROUNDS = 20
const CROWD = 20
const GOAL_MS = 1_000
const CPU_GOAL = 2

await using stack = new AsyncDisposableStack()
const region = await OvnRegion.open(1)
stack.defer(() => region.close())
const database = openNetworkDatabase({ ...region.endpoints, log: createLog({ level: 'silent', pretty: false }) })
stack.defer(() => database.close())
const request = (hosts: string[] = []) => ({ hosts, signal: AbortSignal.timeout(60_000) })
const hex = (number: number): string => number.toString(16).padStart(4, '0').replace(/..$/, ':$&')

await database.ensure(PUBLIC, publicRows({ ranges: [], allowed: [] }, []), request(['hv1']))
const addNetwork = (number: number) =>
  database.ensure(
    networkObject(`net${number}`),
    networkRows({
      networkId: `net${number}`,
      cidr: '10.0.0.0/24',
      gateway: '10.0.0.1',
      enableDhcp: true,
      dns: [],
      snat: null,
      routes: [],
      peers: [],
    }),
    request(),
  )
const port = (number: number, filter: Filter | null) => ({
  vmId: 'c1',
  mac: `52:54:00:00:${hex(number)}`,
  networkId: `net${number % NETWORKS}`,
  addresses: [`10.0.0.${10 + Math.floor(number / NETWORKS)}`],
  ranges: [],
  host: 'hv1',
  limitMbps: 100,
  filter,
})
const setPort = async (number: number, filter: Filter | null, hosts: string[] = []) => {
  const wanted = port(number, filter)
  await database.ensure(portObject(wanted.mac), portRows(wanted, true), request(hosts))
}
const filterOf = (round: number): Filter => ({
  rules: [
    {
      direction: 'IN',
      action: 'ACCEPT',
      protocol: 'TCP',
      ports: [{ from: 1000 + round, to: 1000 + round }],
      sources: [],
      destinations: [],
    },
  ],
  defaultInbound: 'DROP',
  defaultOutbound: 'ACCEPT',
})
const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1]!

let rounds = 0
async function measure(): Promise<{ ms: number; cpuMs: number }> {
  const [times, costs]: number[][] = [[], []]
  for (let i = 0; i < ROUNDS; i++) {
    const filter = filterOf(++rounds)
    const cpu = process.cpuUsage()
    const startedAt = performance.now()
    await database.ensure(filterObject(filter), filterRows(filter), request())
    await setPort(0, filter, ['hv1'])
    times!.push(performance.now() - startedAt)
    const { user, system } = process.cpuUsage(cpu)
    costs!.push((user + system) / 1000)
  }
  return { ms: median(times!), cpuMs: median(costs!) }
}

/** Until the last of them has another filter in force. */
async function measureTogether(count: number): Promise<{ ms: number; changes: number }> {
  const controller = networkController(database)
  const number = async (): Promise<number> => Number(await region.central.shell('ovn-nbctl get NB_Global . nb_cfg'))
  const [times, changes]: number[][] = [[], []]
  for (let i = 0; i < ROUNDS; i++) {
    const filter = filterOf(++rounds)
    const before = await number()
    const startedAt = performance.now()
    const all = Array.from({ length: count }, (_, each) => controller.ensurePort(port(each * NETWORKS, filter), request().signal))
    await Promise.all(all)
    times!.push(performance.now() - startedAt)
    changes!.push((await number()) - before)
  }
  return { ms: median(times!), changes: median(changes!) }
}

await addNetwork(0)
const few = await measure()
const [single, crowd] = [await measureTogether(1), await measureTogether(CROWD)]
console.log(
  `1 port ${single.ms.toFixed(1)} ms in ${single.changes} transactions, ${CROWD} at once ${crowd.ms.toFixed(1)} ms in ${crowd.changes}`,
)
const startedAt = performance.now()
for (let number = 1; number < NETWORKS; number++) await addNetwork(number)
for (let number = 1; number < PORTS; number++) await setPort(number, null)
await database.ensure(
  networkObject('last'),
  networkRows({ networkId: 'last', cidr: '10.0.0.0/24', gateway: null, enableDhcp: false, dns: [], snat: null, routes: [], peers: [] }),
  request(['hv1']),
)
console.log(`${NETWORKS} networks and ${PORTS} ports, one after the other: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
const many = await measure()
const row = (name: string, { ms, cpuMs }: { ms: number; cpuMs: number }) =>
  console.log(`${name.padEnd(34)}${ms.toFixed(1).padStart(9)} ms in force${cpuMs.toFixed(2).padStart(9)} ms of CPU`)
row('1 network, 1 port', few)
row(`${NETWORKS} networks, ${PORTS} ports`, many)
const isFast = many.ms <= GOAL_MS
const isFlat = many.cpuMs / few.cpuMs <= CPU_GOAL
console.log(
  `in force ≤ ${GOAL_MS} ms: ${isFast ? 'pass' : 'FAIL'}; CPU ≤ ${CPU_GOAL} x: ${(many.cpuMs / few.cpuMs).toFixed(2)} ${isFlat ? 'pass' : 'FAIL'}`,
)
process.exitCode = isFast && isFlat ? 0 : 1
