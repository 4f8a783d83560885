// What does a fleet cost in which nothing happens, and does it cost more per VM when it is larger? Simulated hosts with 500 VMs each, accounts with ten, one
// PostgreSQL; every loop of a worker, renewals, webhooks, pruning and the size of tables, in processor time of Berth and PostgreSQL:
//   npm run bench:fleet [-- 1000 10000 100000]
// Invariants are checked on each fleet. On a busy machine 30,000 VMs took eight minutes.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCore } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { instantPace } from '../server/src/hypervisor/simulated/latency.ts'
import type { Clock } from '../server/src/kernel/clock.ts'
import { createLog } from '../server/src/kernel/log.ts'
import { measureBusy, rowSizes } from './fleet-busy.ts'
import { openCpuMeter } from './fleet-cpu.ts'
import { fillFleet } from './fleet-fill.ts'
import { measureIdle, type Cost } from './fleet-idle.ts'
import { copyOfBase, prepare, withPostgres, type Postgres } from './vms-database.ts'

/** Beyond as many times as much data. Others use the machine too. */
const MOST_GROWTH = 1.5
/** Of a run: less says nothing of its growth. */
const SMALL_MS = 50
const DAY_GOAL = { vms: 100_000, ms: 50 }

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1_000, 10_000, 100_000]

interface Result {
  vms: number
  idle: Map<string, Cost>
  busy: Map<string, number>
  tables: Awaited<ReturnType<typeof rowSizes>>
}

await using stack = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))
const receiver = fork(join(import.meta.dirname, 'webhooks-receiver.ts'))
stack.defer(() => void receiver.kill())
const [port] = (await once(receiver, 'message')) as [number]

async function measure(postgres: Postgres, vms: number): Promise<Result> {
  const url = await copyOfBase(postgres, `fleet_${vms}`)
  let aheadMs = 0
  const clock: Clock = { now: () => new Date(Date.now() + aheadMs) }
  const dataDir = join(folder, `data-${vms}`)
  await mkdir(dataDir)
  const config = readConfig({ BERTH_DATA_DIR: dataDir, BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' })
  const core = await openCore(config, url, createLog({ level: 'warn', pretty: false }), { worker: false, pace: instantPace, clock })
  await fillFleet(url, vms, core.deps, `http://127.0.0.1:${port}/hook`)
  console.error(`${vms} VMs are there`)
  const cpu = openCpuMeter(postgres.pid)
  const idle = await measureIdle(core, vms, cpu, (ms) => void (aheadMs += ms))
  console.error(
    `${vms} VMs were idle: ${[...idle].map(([name, { dayMs, simulatedMs }]) => `${name} ${dayMs.toFixed(2)} (${simulatedMs.toFixed(2)})`).join(', ')}`,
  )
  const busy = await measureBusy(core.deps, vms, cpu)
  await core.deps.db.raw('analyze')
  const tables = await rowSizes(core.deps.db)
  await core.close()
  return { vms, idle, busy, tables }
}

const results: Result[] = []
await withPostgres(folder, async (postgres) => {
  await prepare(postgres)
  for (const vms of sizes) results.push(await measure(postgres, vms))
})

let misses = 0
const verdict = (passed: boolean): string => {
  if (!passed) misses++
  return passed ? 'pass' : 'FAIL'
}
const print = (what: string, ...cells: string[]): void =>
  console.log([what.padEnd(38), ...cells.map((cell) => cell.padStart(14))].join(' '))
const last = results.at(-1)!

print('ms of CPU per VM and day', ...results.map(({ vms }) => `${vms} VMs`), 'growth of a run', 'goal')
for (const [name, { dayMs }] of [...last.idle].toSorted((a, b) => b[1].dayMs - a[1].dayMs)) {
  const runs = results.map(({ idle }) => idle.get(name)!.ms)
  const [large, small] = [runs.at(-1)!, runs.at(-2)]
  const days = results.map(({ idle }) => idle.get(name)!.dayMs.toFixed(3))
  if (small === undefined || (large < SMALL_MS && dayMs < 0.1)) continue
  const times = last.vms / results.at(-2)!.vms
  const judged = large < SMALL_MS ? '' : `≤ ${times * MOST_GROWTH} ${verdict(large / small <= times * MOST_GROWTH)}`
  print(name, ...days, (large / small).toFixed(1), judged)
}
const sum = ({ idle }: Result, part: 'dayMs' | 'simulatedMs'): number => [...idle.values()].reduce((total, cost) => total + cost[part], 0)
print('all of it', ...results.map((each) => sum(each, 'dayMs').toFixed(1)))
print('of that, simulated hosts', ...results.map((each) => sum(each, 'simulatedMs').toFixed(1)))
const own = sum(last, 'dayMs') - sum(last, 'simulatedMs')
print(
  'an idle VM, without them',
  ...results.map((each) => (sum(each, 'dayMs') - sum(each, 'simulatedMs')).toFixed(1)),
  '',
  last.vms < DAY_GOAL.vms ? '' : `≤ ${DAY_GOAL.ms} ${verdict(own <= DAY_GOAL.ms)}`,
)

print('')
print('ms of CPU each', ...results.map(({ vms }) => `${vms} VMs`), 'growth', 'goal')
for (const [what, large] of last.busy) {
  const all = results.map(({ busy }) => busy.get(what)!)
  const growth = results.length > 1 ? large / all.at(-2)! : 1
  print(what, ...all.map((ms) => ms.toFixed(3)), growth.toFixed(2), `≤ ${MOST_GROWTH} ${verdict(growth <= MOST_GROWTH)}`)
}

print('')
print('bytes of a row, with indexes', ...results.map(({ vms }) => `${vms} VMs`), 'rows per VM')
for (const { name, rows } of last.tables)
  print(
    name,
    ...results.map(({ tables }) => (tables.find((each) => each.name === name)?.bytes ?? 0).toFixed(0)),
    (rows / last.vms).toFixed(1),
  )
process.exitCode = misses > 0 ? 1 : 0
