// The next release takes the place of this one under load, goes back and comes again: two APIs and two workers behind HAProxy by the files of
// ops/ha, replaced one at a time, with a schema that is expanded before and contracted after. No request fails, and nothing is lost or repeated.
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { MIGRATIONS } from '../src/database.ts'
import { sleep } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { lastNumber } from '../src/kernel/database/migrate.ts'
import { VERSION } from '../src/kernel/version.ts'
import { breakingChanges } from './breaking-changes.ts'
import { startCustomerLoad, type CustomerLoad } from './customer-load.ts'
import { fleet, type Fleet } from './fleet.ts'
import { freePort } from './free-port.ts'
import { missingForHaproxy, spawnHaproxy } from './haproxy.ts'
import { nextRelease } from './next-release.ts'
import { BERTHD, berthdAt, eventually, type Outcome, type Service } from './processes.ts'
import { scratchFolder } from './scratch-folder.ts'

const TIMEOUT_MS = 600_000
/** Under load, with processes as they are: longer than HAProxy takes to notice that an API is ready. */
const REST_MS = 4_000
const STARTED_MS = 120_000
/** Less than HAProxy's checks take to fail. */
const STOPPED_MS = 1_000
const NEXT = '99.0.0'

const nameOf = (step: number, name: string): string => `${String(Number(lastNumber(MIGRATIONS)) + step).padStart(4, '0')}_${name}`
const [ADD, FILL, CONTRACT] = [nameOf(1, 'ordered_with'), nameOf(2, 'ordered_with_before'), nameOf(3, 'contract_ordered_with')]
const FILL_TEXT = `update vms set ordered_with = '${VERSION}' where ordered_with is null;\n`
const SCHEMA = {
  [ADD]: 'alter table vms add column ordered_with text;\n',
  [FILL]: FILL_TEXT,
  [CONTRACT]: `${FILL_TEXT}alter table vms alter column ordered_with set not null;\n`,
}

/** Its VMs know with which version they were ordered: its API writes it, a step of its own reads it, and an event of its own tells it. */
function makeNext(folder: string): string {
  const { program, write, replace } = nextRelease(folder)
  replace('package.json', `"version": "${VERSION}"`, `"version": "${NEXT}"`)
  for (const [name, text] of Object.entries(SCHEMA)) write(`migrations/${name}.sql`, text)
  const rows = 'src/features/vms/model/sql.ts'
  replace(rows, 'insert into vms (id, ', 'insert into vms (ordered_with, id, ')
  replace(rows, 'values (${vm.id}, ${vm.account_id}', 'values (${VERSION}, ${vm.id}, ${vm.account_id}')
  replace(rows, 'import type { VmStatus }', "import { VERSION } from '../../../kernel/version.ts'\nimport type { VmStatus }")
  const create = 'src/features/vms/actions/create.ts'
  replace(create, 'import * as sql from', "import { sql as query } from '../../../kernel/database/db.ts'\nimport * as sql from")
  const step =
    '({ deps, input }) => deps.db.one<object>(query`select ordered_with from vms where id = ${input.vmId} and ordered_with is not null`)'
  replace(create, "    .step('boot',", `    .step('note', { run: ${step} })\n    .step('boot',`)
  replace(
    create,
    "'vm.created', { actionId: runId })",
    "'vm.created', { actionId: runId })\n      await recordVmEvent(tx, deps, vm.id, 'vm.noted' as 'vm.created', { actionId: runId })",
  )
  return program
}

/** Files are named by their content, so each version has others. */
async function makeDashboard(folder: string, name: string): Promise<void> {
  await mkdir(join(folder, 'assets'), { recursive: true })
  await writeFile(join(folder, 'index.html'), `<script type="module" src="/assets/${name}.js"></script>`)
  await writeFile(join(folder, `assets/${name}.js`), '')
}

describeIf(missingForHaproxy())('an upgrade under load', { timeout: TIMEOUT_MS }, async () => {
  const folder = await scratchFolder()
  const [apiPorts, front, unused] = [[await freePort(), await freePort()], await freePort(), await freePort()]
  const next = makeNext(join(folder.path, 'next'))
  let product: Fleet
  let load: CustomerLoad
  let haproxy: ChildProcess
  const apis: Service[] = []
  const workers: Service[] = []

  const startApi = async (number: number, program: string): Promise<void> => {
    const own = { BERTH_PORT: apiPorts[number]!, BERTH_WEB_DIR: join(folder.path, program === next ? 'web-next' : 'web') }
    apis[number] = await product.start('api', own, program)
  }
  const startWorker = async (number: number, program: string): Promise<void> => {
    workers[number] = await product.start('worker', { BERTH_METRICS_PORT: '0' }, program)
  }
  /** Again where the database answers late. */
  const run = (program: string, ...args: string[]): Promise<Outcome> =>
    eventually(async () => {
      const outcome = await berthdAt(program, product.settings, ...args)
      return !outcome.stderr.includes('timeout expired') && outcome
    }, STARTED_MS)

  beforeAll(async () => {
    product = await fleet({
      BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
      BERTH_PAYMENTS: 'manual',
      BERTH_METRICS_PORT: '0',
      BERTH_TRUSTED_PROXIES: '127.0.0.1',
    })
    for (const name of ['web', 'web-next']) await makeDashboard(join(folder.path, name), name)
    const settings = { DATABASE_BIND: `127.0.0.1:${unused}`, API_BIND: `127.0.0.1:${front}` }
    const proxyFolder = join(folder.path, 'haproxy')
    await mkdir(proxyFolder)
    haproxy = await spawnHaproxy(proxyFolder, { ...settings, API1: `127.0.0.1:${apiPorts[0]}`, API2: `127.0.0.1:${apiPorts[1]}` })
    await Promise.all([0, 1].flatMap((number) => [startApi(number, BERTHD), startWorker(number, BERTHD)]))
    load = await startCustomerLoad(product, `http://127.0.0.1:${front}`, { everyMs: 1_500, timeoutMs: 60_000, reads: true })
    await sleep(REST_MS)
  }, TIMEOUT_MS)
  afterAll(async () => {
    await load?.stop()
    haproxy?.kill('SIGKILL')
    if (haproxy?.exitCode === null) await once(haproxy, 'exit')
    await folder.remove()
  }, TIMEOUT_MS)

  const requireNoFailure = (): void => {
    const said = apis.flatMap((each) =>
      each
        .output()
        .split('\n')
        .filter((line) => /"level":(50|60)/.test(line)),
    )
    expect({ failures: load.failures.slice(0, 9), said: load.failures.length > 0 ? said.slice(-9) : [] }).toEqual({
      failures: [],
      said: [],
    })
  }
  /** As operators do it: the next one when this one is ready. */
  async function replace(role: 'api' | 'worker', number: number, program: string): Promise<void> {
    const stopped = role === 'api' ? apis[number] : workers[number]
    expect(await stopped!.kill('SIGTERM')).toBe(0)
    const start = () => (role === 'api' ? startApi : startWorker)(number, program)
    let problem: unknown
    // systemd starts it again too, where the database answers late.
    await eventually(
      () =>
        start().then(
          () => true,
          (error: unknown) => void (problem = error),
        ),
      STARTED_MS,
    ).catch(() => {
      throw problem
    })
    await sleep(REST_MS)
    requireNoFailure()
  }
  /** Actions that only the next release can carry out. */
  const openNotes = async (): Promise<number> => {
    const { count } = await product.db.one<{ count: number }>(sql`
      select count(*)::int as count from workflow_runs r join workflow_steps s on s.run_id = r.id
      where s.name = 'note' and (r.status in ('PENDING', 'RUNNING') or r.compensating)`)
    return count
  }
  const orderedWith = () =>
    product.db.many<{ with: string | null; count: number }>(
      sql`select ordered_with as with, count(*)::int as count from vms group by 1 order by 1`,
    )

  test('begins with a schema that the version before can run with', async () => {
    expect([breakingChanges(SCHEMA[ADD]!), breakingChanges(SCHEMA[FILL]!)]).toEqual([[], []])
    expect(breakingChanges(SCHEMA[CONTRACT]!)).toHaveLength(1)
    const tooEarly = await run(next, 'worker')
    expect([tooEarly.code, tooEarly.stderr]).toEqual([1, expect.stringContaining(`${ADD} is missing. Run: npx berthd migrate`)])
    const { code, stdout } = await run(next, 'migrate')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`applied ${ADD}, ${FILL}`)])
    expect(stdout).toContain(`It applies ${CONTRACT}`)
    await sleep(REST_MS)
    requireNoFailure()
  })

  test('is no contract while a process of the version before runs', async () => {
    const { code, stderr } = await run(next, 'migrate', '--contract')
    expect([code, stderr]).toEqual([1, expect.stringContaining(`these are connected: api of version ${VERSION} on`)])
    expect(stderr).toContain(`worker of version ${VERSION} on`)
  })

  test('replaces workers, then APIs', async () => {
    for (const number of [0, 1]) await replace('worker', number, next)
    for (const number of [0, 1]) await replace('api', number, next)
    expect((await orderedWith()).map((each) => each.with)).toEqual([VERSION, NEXT, null])
  })

  test('goes back: APIs, then workers, the last when nothing is left that only it can carry out', async () => {
    for (const number of [0, 1]) await replace('api', number, BERTHD)
    await replace('worker', 0, BERTHD)
    await eventually(async () => (await openNotes()) === 0, TIMEOUT_MS)
    await replace('worker', 1, BERTHD)
    const { code, stdout } = await run(BERTHD, 'migrate')
    expect([code, stdout]).toEqual([0, expect.stringContaining(`A newer version has added ${ADD}, ${FILL}, with which this version works`)])
  })

  test('comes again, with a worker of the version before that leaves its actions alone, and is contracted', async () => {
    await replace('worker', 0, next)
    for (const number of [0, 1]) await replace('api', number, next)
    await eventually(async () => workers[1]!.output().includes('left to its workers'), TIMEOUT_MS)
    await replace('worker', 1, next)
    const { code, stdout, stderr } = await run(next, 'migrate', '--contract')
    expect([code, stdout, stderr]).toEqual([0, expect.stringContaining(`applied ${CONTRACT}`), ''])
    await sleep(REST_MS)
    expect((await orderedWith()).map((each) => each.with)).toEqual([VERSION, NEXT])
    const tooLate = await run(BERTHD, 'api')
    expect([tooLate.code, tooLate.stderr]).toEqual([1, expect.stringContaining(`Migration ${CONTRACT} of a newer version has removed`)])
    expect((await run(BERTHD, 'migrate')).stderr).toContain(`Migration ${CONTRACT} of a newer version has removed`)
    await eventually(async () => load.reconnects.length >= 3, TIMEOUT_MS)
    requireNoFailure()
    expect(new Set(load.reconnects)).toEqual(new Set(['The event stream has ended']))
    console.log(`${load.requests()} requests over 12 replaced processes, ${load.failures.length} failed`)
  })

  test('would be noticed if it were no drain', async () => {
    process.kill(apis[0]!.pid, 'SIGSTOP') // until it has requests, which HAProxy does not notice so soon
    await sleep(STOPPED_MS)
    await apis[0]!.kill('SIGKILL')
    await sleep(REST_MS)
    console.log(`an API killed: ${load.failures.length} requests failed, such as ${load.failures[0]}`)
    expect(load.failures.length).toBeGreaterThan(0)
  })

  test('loses and repeats nothing', async () => {
    expect(await load.requireNothingLost()).toBe(0)
    const notes = await product.db.many<{ result: unknown; status: string }>(sql`
      select distinct s.result, r.status from workflow_steps s join workflow_runs r on r.id = s.run_id where s.name = 'note'`)
    expect(notes).toEqual([{ result: { ordered_with: NEXT }, status: 'COMPLETED' }])
    console.log(await orderedWith())
  })
})
