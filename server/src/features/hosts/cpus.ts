// The CPUs of a host: which are dedicated to single VMs, and which of those are free. A VM has its CPUs of one NUMA node. Who has which is in `cpu_pins`, whose
// primary key decides; whoever pins holds the lock of the host's row, so nobody finds it taken.
import type { CpuSet } from '../../hypervisor/driver.ts'
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { formatNumberRanges } from '../../kernel/number-ranges.ts'
import type { HostRow } from './sql.ts'

type Cpus = Pick<HostRow, 'vcpu_total' | 'cpu_nodes' | 'dedicated_cpus'>

/** Those that exist. */
export const cpusOf = ({ vcpu_total, cpu_nodes }: Cpus): number[] =>
  cpu_nodes === null ? [...Array(vcpu_total).keys()] : [...cpu_nodes.keys()].filter((cpu) => cpu_nodes[cpu]! >= 0)

const nodeOf = ({ cpu_nodes }: Cpus, cpu: number): number => cpu_nodes?.[cpu] ?? 0

/** Of each NUMA node, the dedicated CPUs that no VM has. */
export const freeByNode = (host: Cpus, taken: ReadonlySet<number>): Map<number, number[]> =>
  Map.groupBy(
    host.dedicated_cpus.filter((cpu) => !taken.has(cpu)),
    (cpu) => nodeOf(host, cpu),
  )

/** The node with fewest free ones that are enough: larger VMs may need the others. Undefined where none has as many. */
export function pickNode(free: ReadonlyMap<number, readonly unknown[]>, count: number): number | undefined {
  const enough = [...free].filter(([, cpus]) => cpus.length >= count)
  return enough.toSorted(([a, left], [b, right]) => left.length - right.length || a - b)[0]?.[0]
}

interface Pin {
  host_id: string
  cpu: number
  vm_id: string
  vcpu: number
}

/** Free dedicated CPUs by host and NUMA node. */
export async function freeCpusIn(db: Queries, hosts: HostRow[]): Promise<Map<string, Map<number, number[]>>> {
  const ids = hosts.filter(({ dedicated_cpus }) => dedicated_cpus.length > 0).map(({ id }) => id)
  const pins = await db.many<Pick<Pin, 'host_id' | 'cpu'>>(sql`select host_id, cpu from cpu_pins where host_id = any(${ids}::text[])`)
  const taken = Map.groupBy(pins, ({ host_id }) => host_id)
  return new Map(hosts.map((host) => [host.id, freeByNode(host, new Set(taken.get(host.id)?.map(({ cpu }) => cpu)))]))
}

const pinsOn = (db: Queries, hostId: string) =>
  db.many<Pin>(sql`select host_id, cpu, vm_id, vcpu from cpu_pins where host_id = ${hostId} order by vcpu`)

/** That many more, of the NUMA node of those it has there. False where there are too few: whoever calls has locked the host's row. */
export async function pinCpus(tx: Tx, host: Cpus & { id: string }, vmId: string, count: number): Promise<boolean> {
  if (count <= 0) return true
  const pins = await pinsOn(tx, host.id)
  const own = pins.filter(({ vm_id }) => vm_id === vmId)
  const free = freeByNode(host, new Set(pins.map(({ cpu }) => cpu)))
  const node = own[0] ? nodeOf(host, own[0].cpu) : pickNode(free, count)
  const cpus = (node === undefined ? undefined : free.get(node))?.slice(0, count) ?? []
  if (cpus.length < count) return false
  const vcpus = cpus.map((_, index) => own.length + index)
  await tx.run(sql`
    insert into cpu_pins (host_id, cpu, vm_id, vcpu) select ${host.id}, cpu, ${vmId}, vcpu from unnest(${cpus}::int[], ${vcpus}::int[]) as each (cpu, vcpu)`)
  return true
}

/** The last ones that it got. */
export const unpinCpus = (tx: Tx, hostId: string, vmId: string, count: number) =>
  tx.run(sql`
    delete from cpu_pins where host_id = ${hostId} and cpu in (
      select cpu from cpu_pins where host_id = ${hostId} and vm_id = ${vmId} order by vcpu desc limit ${Math.max(0, count)})`)

/** Where the machine of a VM runs on the host; null: on any CPU. */
export async function cpuSetOf(db: Queries, hostId: string, vmId: string, isDedicated: boolean): Promise<CpuSet | null> {
  const host = await db.maybe<Cpus>(sql`select vcpu_total, cpu_nodes, dedicated_cpus from hosts where id = ${hostId}`)
  if (!host) return null
  const own = isDedicated ? (await pinsOn(db, hostId)).filter(({ vm_id }) => vm_id === vmId).map(({ cpu }) => cpu) : []
  return own.length > 0 ? { cpus: own, numaNode: nodeOf(host, own[0]!) } : sharedCpus(host)
}

/** What the dedicated ones leave to all others; null: all. */
export function sharedCpus(host: Cpus): CpuSet | null {
  if (host.dedicated_cpus.length === 0) return null
  return { cpus: cpusOf(host).filter((cpu) => !host.dedicated_cpus.includes(cpu)), numaNode: null }
}

/** How many CPUs VMs have to themselves, by host. */
export const countPins = async (db: Queries): Promise<Map<string, number>> =>
  new Map(
    (await db.many<{ host_id: string; count: number }>(sql`select host_id, count(*)::int as count from cpu_pins group by 1`)).map(
      ({ host_id, count }) => [host_id, count],
    ),
  )

/** Of the host, those that VMs have. */
export const pinnedCpus = async (db: Queries, hostId: string): Promise<number[]> =>
  (await pinsOn(db, hostId)).map(({ cpu }) => cpu).toSorted((a, b) => a - b)

/** Names the first thing that is wrong with a list of CPUs to be dedicated; null: nothing. */
export function objectionTo(host: Cpus, wanted: number[], pinned: number[]): string | null {
  const [all, chosen] = [new Set(cpusOf(host)), new Set(wanted)]
  const unknown = wanted.filter((cpu) => !all.has(cpu))
  if (unknown.length > 0) return `it has no CPU ${formatNumberRanges(unknown)}, only ${formatNumberRanges([...all])}`
  if (chosen.size === all.size) return 'one CPU at least is left to the host itself and to shared VMs'
  const left = pinned.filter((cpu) => !chosen.has(cpu))
  return left.length > 0 ? `dedicated VMs have CPU ${formatNumberRanges(left)}: move them away first` : null
}
