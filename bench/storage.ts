// Do lists and sweeps of storage stay as fast when there is ten times as much of it? Two databases side by side: 10,000 volumes, 5,000 snapshots of
// them, 50,000 backups and 5,000 images of 100 accounts, and a tenth of that. Both have the same work to do, in turns, and every number is a
// median. Run: npm run bench:storage
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openCore } from '../server/src/compose.ts'
import { readConfig } from '../server/src/config.ts'
import { dailyBackups } from '../server/src/features/backups/daily.reconciler.ts'
import { sweepOrphanVolumes } from '../server/src/features/backups/orphan-volumes.reconciler.ts'
import { removeInTargets } from '../server/src/features/backups/purge-targets.reconciler.ts'
import { removeBackups } from '../server/src/features/backups/purge.reconciler.ts'
import { listBackups } from '../server/src/features/backups/service.ts'
import type { Deps } from '../server/src/features/deps.ts'
import { purgeImages } from '../server/src/features/images/purge.reconciler.ts'
import { renewImages } from '../server/src/features/images/renew.reconciler.ts'
import { listImages } from '../server/src/features/images/service.ts'
import { listVolumeSnapshots } from '../server/src/features/volume-snapshots/service.ts'
import { purgeVolumes } from '../server/src/features/volumes/purge.reconciler.ts'
import { renewVolumes } from '../server/src/features/volumes/renew.reconciler.ts'
import { listVolumes } from '../server/src/features/volumes/service.ts'
import { instantPace } from '../server/src/hypervisor/simulated/latency.ts'
import { sql } from '../server/src/kernel/database/db.ts'
import { createLog } from '../server/src/kernel/log.ts'
import { fillStorage, idOf, type Filled } from './storage-fill.ts'
import { copyOfBase, prepare, withPostgres } from './vms-database.ts'
import { median, missed, printHead, printRatio } from './vms-table.ts'

const [ACCOUNTS, TENTH] = [100, 10]
const ROUNDS = 20
const WARM_UP = 2
/** What changes nothing is repeated, and the fastest counts: others may use the machine. */
const REPEATED = 5
/** What is due in each round of a sweep. */
const DUE = 10
/** Whether PostgreSQL plans a statement again or uses a plan that it has is its choice, and none of size. */
const PLANNING_MS = 2

async function timesOf(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  while (times.length < count) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return times
}

interface Side {
  deps: Deps
  filled: Filled
}

await using stack = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'berth-bench-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))

await withPostgres(folder, async (postgres) => {
  await prepare(postgres)
  const tenthUrl = await copyOfBase(postgres, 'tenth')
  await using cores = new AsyncDisposableStack()
  const open = async (url: string, accounts: number): Promise<Side> => {
    const filled = await fillStorage(url, accounts)
    const dataDir = join(folder, `data-${accounts}`)
    await mkdir(dataDir)
    const config = readConfig({ BERTH_DATA_DIR: dataDir })
    const core = await openCore(config, url, createLog({ level: 'error', pretty: false }), { worker: false, pace: instantPace })
    cores.defer(() => core.close())
    return { deps: core.deps, filled }
  }
  const sides = [await open(postgres.url, ACCOUNTS), await open(tenthUrl, TENTH)] as const

  type Work = (side: Side, round: number) => Promise<unknown>
  /** `ready` is not counted. */
  const compare = async (what: string, work: Work, ready?: Work, goal = 1.5): Promise<void> => {
    const times: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS + WARM_UP; round++)
      for (const [index, side] of sides.entries()) {
        await ready?.(side, round)
        const taken = await timesOf(ready ? 1 : REPEATED, () => work(side, round))
        if (round >= WARM_UP) times[index]!.push(Math.min(...taken))
      }
    const most = Math.max(goal, 1 + PLANNING_MS / median(times[1]))
    printRatio(what, { ours: times[0], floor: times[1], unit: 'ms' }, { most: Number(most.toFixed(1)) })
  }

  /** Of accounts that both sides have, but the rows of other accounts lie between. */
  const numberOf = (round: number): number => (round * 7) % TENTH
  const accountOf = ({ filled }: Side, round: number): string => filled.accountIds[numberOf(round)]!
  printHead()
  for (const [name, deep] of [
    ['first page', false],
    ['deep page', true],
  ] as const) {
    const page = (last: number) => ({ page: deep ? last : 1, limit: 10 })
    await compare(`${name} of volumes`, (side, round) => listVolumes(side.deps.db, accountOf(side, round), {}, page(9)))
    await compare(`${name} of snapshots of a volume`, (side, round) =>
      listVolumeSnapshots(side.deps.db, accountOf(side, round), idOf('volume', numberOf(round), 0), undefined, page(5)),
    )
    await compare(`${name} of backups`, (side, round) =>
      listBackups(side.deps.db, accountOf(side, round), idOf('vm', numberOf(round), 0), undefined, page(10)),
    )
    await compare(`${name} of images`, (side, round) => listImages(side.deps.db, accountOf(side, round), {}, page(5)))
    const after = deep ? { after: [`cvx${'0'.repeat(4)}20`] } : {}
    const ofLarge: Work = ({ deps, filled }) => listVolumes(deps.db, filled.largeAccountId, {}, { page: 1, limit: 10, ...after })
    await compare(`${name} of 1,000 volumes ÷ of 100`, ofLarge, undefined, 2)
  }

  for (const [what, reconciler] of [
    ['renewal of volumes, none due', renewVolumes],
    ['renewal of images, none due', renewImages],
    ['purge of volumes, none deleted', purgeVolumes],
    ['purge of images, none deleted', purgeImages],
    ['purge of backups, none deleted', removeBackups],
    ['purge of backups in targets, none deleted', removeInTargets],
    ['daily backups, none due', dailyBackups],
  ] as const)
    await compare(what, ({ deps }) => reconciler.runOnce(deps))

  /** Others in each round, of the accounts that both sides have. */
  const sample = (kind: 'volume' | 'backup' | 'image', round: number, first = 0): string[] =>
    Array.from({ length: DUE }, (_, account) => idOf(kind, account, first + round))
  const began = sql`now() - '1 month'::interval`
  const ended = sql`now() - '1 minute'::interval`
  await compare(
    `renewal of ${DUE} volumes`,
    ({ deps }) => renewVolumes.runOnce(deps),
    ({ deps: { db } }, round) =>
      db.run(
        sql`update volumes set period_started_at = ${began}, next_renewal_at = ${ended} where id = any(${sample('volume', round, 1)})`,
      ),
  )
  await compare(
    `renewal of ${DUE} images`,
    ({ deps }) => renewImages.runOnce(deps),
    ({ deps: { db } }, round) =>
      db.run(sql`update images set period_started_at = ${began}, next_renewal_at = ${ended} where id = any(${sample('image', round)})`),
  )
  await compare(
    `purge of ${DUE} volumes`,
    ({ deps }) => purgeVolumes.runOnce(deps),
    ({ deps: { db } }, round) => db.run(sql`update volumes set deleted_at = now() where id = any(${sample('volume', round, 50)})`),
  )
  await compare(
    `purge of ${DUE} backups`,
    ({ deps }) => removeBackups.runOnce(deps),
    ({ deps: { db } }, round) => db.run(sql`update backups set status = 'DELETING' where id = any(${sample('backup', 2 * round, 100)})`),
  )
  await compare('sweep of one host for orphans', ({ deps, filled }, round) =>
    sweepOrphanVolumes.keyed!.runOnce(deps, filled.hostIds[round % 2]!, new AbortController().signal),
  )
})
process.exitCode = missed() > 0 ? 1 : 0
