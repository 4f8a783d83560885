// Five minutes of a fleet in which nothing happens: every loop of a worker as often as it runs, with the clock moved on in steps, and the
// processor time that each takes.
import { loopsOf, type Core } from '../server/src/compose.ts'
import type { Deps } from '../server/src/features/deps.ts'
import { listHosts, regionsWithHosts } from '../server/src/features/hosts/service.ts'
import { checkInvariants, formatFailures } from '../server/src/invariants/check.ts'
import { REST_AFTER_CHECK } from '../server/src/invariants/monitor.ts'
import type { Reconciler } from '../server/src/workflow/reconciler-loop.ts'
import type { CpuMeter } from './fleet-cpu.ts'

const [STEP_MS, WINDOW_MS, DAY_MS] = [5_000, 300_000, 86_400_000]
const INVARIANTS = 'invariants.check'
/** Have their work once in a quarter of an hour: minutes become 15-minute rows, and traffic that moved little since is counted. */
const SELDOM_MS = 900_000
const [ROLL_UP, METER] = ['metrics.roll_up', 'bandwidth.meter']
const COUNTING = `${METER}, counting`

export interface Cost {
  /** Of a run. */
  ms: number
  /** Of a day, per VM. */
  dayMs: number
  /** Of that: what simulated hosts and network controllers take, which are elsewhere in a real fleet. */
  simulatedMs: number
}

/** The loop's own way to run, as a worker starts it. */
function runnerOf({ keyed, open, runOnce }: Reconciler<Deps>, deps: Deps): () => Promise<unknown> {
  const never = new AbortController().signal
  if (open) {
    const opened = open(deps, () => {})
    return () => opened.runOnce()
  }
  if (keyed) return async () => Promise.all((await keyed.busy(deps)).map((key) => keyed.runOnce(deps, key, never)))
  return () => runOnce(deps, never)
}

export async function measureIdle(core: Core, vms: number, cpu: CpuMeter, advance: (ms: number) => void): Promise<Map<string, Cost>> {
  const { deps } = core
  const all = loopsOf(core).map((loop) => ({ ...loop, run: runnerOf(loop, deps), spent: 0, runs: 0 }))
  const loops = all.filter(({ name }) => name !== INVARIANTS && name !== ROLL_UP)
  const readings = await measureReadings(deps, cpu)
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const start = cpu.spent()
    await work()
    return cpu.spent() - start
  }
  for (const loop of loops) await loop.run() // plans, caches and first rows
  const costs = new Map<string, Cost>()
  const record = (name: string, ms: number, everyMs: number): void => {
    const perDay = DAY_MS / everyMs / vms
    const { verbs = [], everyMs: readEveryMs = everyMs } = READS[name] ?? {}
    const simulated = verbs.reduce((sum, verb) => sum + readings[verb], 0) * (everyMs / readEveryMs)
    costs.set(name, { ms, dayMs: ms * perDay, simulatedMs: Math.min(ms, simulated) * perDay })
  }
  let spent = 0
  const inAll = await timed(async () => {
    for (let at = 0; at < WINDOW_MS; at += STEP_MS) {
      advance(STEP_MS)
      for (const loop of loops) {
        if (at % Math.max(STEP_MS, loop.everyMs) !== 0) continue
        const times = Math.max(1, STEP_MS / loop.everyMs)
        loop.spent += await timed(async () => {
          for (let i = 0; i < times; i++) await loop.run()
        })
        loop.runs += times
      }
    }
    await deps.db.raw('vacuum') // what autovacuum had no time for
  })
  for (const loop of loops) {
    record(loop.name, loop.spent / loop.runs, loop.everyMs)
    spent += loop.spent
  }
  record('vacuum, write-ahead log, checkpoints', inAll - spent, WINDOW_MS)
  advance(SELDOM_MS + 120_000)
  for (const [name, line] of [
    [ROLL_UP, ROLL_UP],
    [METER, COUNTING],
  ] as const)
    record(line, await timed(all.find((loop) => loop.name === name)!.run), SELDOM_MS)
  const check = await timed(async () => {
    const broken = formatFailures(await checkInvariants(deps))
    if (broken) throw new Error(`the fleet is not as promised:\n${broken}`)
  })
  record(INVARIANTS, check, Math.max(300_000, check * REST_AFTER_CHECK))
  return costs
}

type Verb = 'machines' | 'volumes' | 'counters' | 'metrics' | 'ports' | 'health'

/** What each loop reads of all hosts, and how often if not in each run. */
const READS: Record<string, { verbs: Verb[]; everyMs?: number }> = {
  'hosts.heartbeat': { verbs: ['health'] },
  'vms.power_sync': { verbs: ['machines'] },
  [METER]: { verbs: ['counters'] },
  [COUNTING]: { verbs: ['counters'] },
  'metrics.sample': { verbs: ['metrics'], everyMs: 60_000 },
  'backups.orphan_volumes': { verbs: ['volumes'] },
  'vms.port_drift': { verbs: ['ports'] },
  [INVARIANTS]: { verbs: ['machines', 'volumes', 'ports'] },
}

/** Processor time of all simulated hosts for one reading each. */
async function measureReadings({ db, hypervisors, networkControllers }: Deps, cpu: CpuMeter): Promise<Record<Verb, number>> {
  const signal = new AbortController().signal
  const drivers = await Promise.all((await listHosts(db)).map(({ id }) => hypervisors.get(id)))
  const controllers = await Promise.all((await regionsWithHosts(db)).map((id) => networkControllers.get(id)))
  const drain = async (items: AsyncIterable<unknown>): Promise<void> => {
    for await (const _ of items);
  }
  const once = async function* (answer: Promise<unknown>) {
    yield await answer
  }
  const measured = async (read: () => AsyncIterable<unknown>[]): Promise<number> => {
    const times: number[] = []
    for (let round = 0; round < 2; round++) {
      const before = cpu.spent()
      for (const each of read()) await drain(each)
      times.push(cpu.spent() - before)
    }
    return Math.min(...times)
  }
  return {
    machines: await measured(() => drivers.map((driver) => driver.listMachines(signal))),
    volumes: await measured(() => drivers.map((driver) => driver.listVolumes(signal))),
    counters: await measured(() => drivers.map((driver) => driver.counters('all', signal))),
    metrics: await measured(() => drivers.map((driver) => driver.metrics('all', signal))),
    health: await measured(() => drivers.map((driver) => once(driver.health(signal)))),
    ports: await measured(() => controllers.map((controller) => controller.listPorts(signal))),
  }
}
