// Faults: workers crash, time passes, hosts fail, and machines are changed by hand.
import { sql } from '../../src/kernel/database/db.ts'
import { suspendAccount, unsuspendAccount } from '../../src/features/operator/customers.ts'
import { suspendByOperator, unsuspendByOperator } from '../../src/features/vms/operator/suspend.ts'
import { adopt, unmanage } from '../../src/features/vms/operator/manage.ts'
import { ApiError } from '../../src/kernel/errors.ts'
import type { Verb } from '../../src/hypervisor/simulated/host.ts'
import type { Operation } from './customers.ts'
import { plant } from './faults.ts'
import type { Fixture } from './fixture.ts'

const VERBS: Verb[] = [
  'ensureDisk',
  'ensureNoDisk',
  'ensureDefined',
  'ensureLiveSize',
  'ensureRunning',
  'ensureStopped',
  'ensureRestarted',
  'ensureReady',
  'ensurePassword',
  'ensurePurged',
  'ensureNetwork',
  'ensureNoNetwork',
  'ensureInterface',
  'ensureNoInterface',
  'ensurePublicNetwork',
  'ensurePort',
  'ensureNoPort',
  'ensureSnapshot',
  'ensureNoSnapshot',
  'ensureBackup',
  'ensureNoBackup',
  'findMachine',
  'listMachines',
  'listVolumes',
  'listNetworks',
  'listPorts',
  'counters',
  'health',
]

const plantFault = (fixture: Fixture): Promise<void> => plant(fixture, fixture.random.pick(fixture.controls)!, ['*', '*', '*', ...VERBS])

const HOST_TROUBLE = ['fillDisk', 'freeDisk', 'loseHost', 'returnHost', 'cutPower', 'cutPower'] as const

async function troubleHost({ random, controls, trace }: Fixture): Promise<void> {
  const trouble = random.pick(HOST_TROUBLE)!
  await random.pick(controls)!.faults[trouble]()
  trace.push(`  ${trouble}`)
}

/** As an administrator with a shell on the host would. */
async function touchMachine(fixture: Fixture): Promise<void> {
  const { random, db, controls, hosts, trace } = fixture
  const vm = fixture.some('vm')
  const row =
    vm && (await db.maybe<{ host_id: string; mac: string }>(sql`select host_id, mac from vms where id = ${vm.id} and provisioned`))
  if (!row) return
  const { drift } = controls[hosts.findIndex(({ id }) => id === row.host_id)]!
  const touches: [string, () => Promise<unknown>][] = [
    ['switched off from inside', () => drift.stopMachine(vm.id, 'guest')],
    ['crashed', () => drift.stopMachine(vm.id, 'crash')],
    ['started by hand', () => drift.startMachine(vm.id)],
    ['paused by hand', () => drift.pauseMachine(vm.id)],
    ['undefined by hand', () => drift.deleteMachine(vm.id)],
    ['hangs', () => drift.hangGuest(vm.id)],
    ['listens again', () => drift.hangGuest(vm.id, false)],
    ['ports removed by hand', () => db.run(sql`delete from simulated.ports where vm_id = ${vm.id}`)],
    ['limit removed by hand', () => db.run(sql`update simulated.ports set limit_mbps = null where vm_id = ${vm.id}`)],
    ['has much traffic', () => drift.addTraffic(vm.id, row.mac, { received: 3e12, sent: 1e9 })],
  ]
  const [what, touch] = random.pick(touches)!
  await touch()
  trace.push(`  ${what}`)
}

/** A rejected request is a valid outcome. */
async function operate({ random, some, db, deps, trace }: Fixture): Promise<void> {
  const vm = some('vm')
  if (!vm) return
  const orders: [string, () => Promise<unknown>][] = [
    ['suspend', () => suspendByOperator(deps, vm.id)],
    ['unsuspend', () => unsuspendByOperator(deps, vm.id)],
    ['suspend the account', () => db.tx((tx) => suspendAccount(tx, deps, vm.owner.accountId, 'Spam'))],
    ['lift that of the account', () => db.tx((tx) => unsuspendAccount(tx, deps, vm.owner.accountId))],
    ['unmanage', () => db.tx((tx) => unmanage(tx, deps, vm.id))],
    ['adopt', () => adopt(deps, vm.id)],
  ]
  const [name, give] = random.pick(orders)!
  const outcome = await give().then(
    () => 'done',
    (error: unknown) => {
      if (error instanceof ApiError || (error as { retry?: boolean }).retry !== undefined) return 'refused'
      throw error
    },
  )
  trace.push(`  ${name} ${outcome}`)
}

/** No host stays unreachable longer than its actions can wait, because then manual cleanup would be required. */
async function wait(fixture: Fixture): Promise<void> {
  const { random, clock, controls, settle, trace } = fixture
  const kind = random.pick(['seconds', 'seconds', 'minutes', 'days'] as const)
  const duration = { seconds: `${random.int(1, 60)}s`, minutes: `${random.int(1, 20)}m`, days: `${random.int(1, 800)}h` }[kind!]
  if (kind !== 'seconds') {
    for (const { faults } of controls) await faults.returnHost()
    clock.advance('31s')
    await settle()
  }
  clock.advance(duration)
  trace.push(`  ${duration}`)
}

async function work(fixture: Fixture): Promise<void> {
  const done = await fixture.work(fixture.random.chance(0.3) ? fixture.random.int(1, 25) : Infinity)
  fixture.trace.push(`  ${done}`)
}

/** A failed run is logged and retried. */
const reconcile = (fixture: Fixture): Promise<unknown> =>
  fixture.reconcile().catch((error: unknown) => void fixture.trace.push(`  ${String(error)}`))

export const otherOperations: Operation[] = [
  { name: 'work', weight: 8, act: work },
  { name: 'reconcile', weight: 8, act: reconcile },
  { name: 'wait', weight: 8, act: wait },
  { name: 'plant a fault', weight: 3, act: plantFault },
  { name: 'trouble a host', weight: 2, act: troubleHost },
  { name: 'touch a machine', weight: 5, act: touchMachine },
  { name: 'operate', weight: 3, act: operate },
]
