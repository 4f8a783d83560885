// How long a change of OVN's northbound database takes through @berth/ovsdb, beside ovn-nbctl as a process each time and as a daemon, which keeps
// its connection. Both add a logical switch to the same real ovsdb-server in turns; every number is a median.
//   node --conditions=@berth/source bench/ovsdb.ts
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database, operationsOn, unix } from '@berth/ovsdb'
import { run } from '../libvirt/test/command.ts'
import { eventually } from '../libvirt/test/eventually.ts'

const ROUNDS = 100
const GOAL = 1

type Northbound = { Logical_Switch: { name: string } }
const { insert } = operationsOn<Northbound>()

await using stack = new AsyncDisposableStack()
const folder = await mkdtemp(join(tmpdir(), 'berth-ovsdb-'))
stack.defer(() => rm(folder, { recursive: true, force: true }))
const [file, socket] = [join(folder, 'nb.db'), join(folder, 'nb.sock')]
await run('ovsdb-tool', 'create', file, '/usr/share/ovn/ovn-nb.ovsschema')
const server = spawn('/usr/sbin/ovsdb-server', [`--remote=punix:${socket}`, `--unixctl=${folder}/ctl`, '--no-chdir', file], {
  stdio: 'ignore',
})
stack.defer(async () => {
  server.kill()
  await once(server, 'exit')
})
const remote = `--db=unix:${socket}`
await eventually('ovsdb-server', () => run('ovn-nbctl', remote, 'init').then(() => true))
const daemon = spawn('ovn-nbctl', [remote, `--unixctl=${folder}/nbctl`, '--detach', `--pidfile=${folder}/nbctl.pid`], { stdio: 'ignore' })
await once(daemon, 'exit')
stack.defer(() => run('ovs-appctl', '-t', `${folder}/nbctl`, 'exit').then(() => undefined))
const database = new Database<Northbound>({ name: 'OVN_Northbound', endpoints: [unix(socket)] })
stack.defer(() => database.close())
await database.whenUp()

const ways: Record<string, (name: string) => Promise<unknown>> = {
  'ovn-nbctl': (name) => run('ovn-nbctl', remote, 'ls-add', name),
  'ovn-nbctl, daemon': (name) => run('ovs-appctl', '-t', `${folder}/nbctl`, 'run', 'ls-add', name),
  '@berth/ovsdb': (name) => database.transact([insert('Logical_Switch', { name })]),
}
const times: Record<string, number[]> = {}
for (let round = 0; round < ROUNDS; round++) {
  for (const [way, add] of Object.entries(ways)) {
    const startedAt = performance.now()
    await add(`${way}-${round}`.replaceAll(/[^a-z0-9]/g, '-'))
    ;(times[way] ??= []).push(performance.now() - startedAt)
  }
}
const median = (list: number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1]!
const floor = median(times['ovn-nbctl, daemon']!)
for (const [way, list] of Object.entries(times))
  console.log(`${way.padEnd(20)}${median(list).toFixed(2).padStart(8)} ms${(median(list) / floor).toFixed(2).padStart(8)}`)
const ratio = median(times['@berth/ovsdb']!) / floor
console.log(`goal ≤ ${GOAL} of the daemon: ${ratio <= GOAL ? 'pass' : 'FAIL'}`)
process.exitCode = ratio <= GOAL ? 0 : 1
