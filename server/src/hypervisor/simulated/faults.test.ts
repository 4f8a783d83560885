import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { collect, expectKind, TEMPLATE } from '../conformance/fixture.ts'
import type { Driver, MachineSpec } from '../driver.ts'
import type { Verb } from './host.ts'
import { realPace } from './latency.ts'
import { simulatedFixture, someSpec } from './test-fixture.ts'

const signal = new AbortController().signal
const fixture = await simulatedFixture()
const driver = fixture.open()
const { faults } = fixture

async function create(spec: MachineSpec = someSpec()): Promise<MachineSpec> {
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
  return spec
}

const volumesOf = async (vmId: string) => (await collect(driver.listVolumes(signal))).filter((volume) => volume.vmId === vmId)

describe('an injected fault', () => {
  test('hits the call it was injected for, and only that', async () => {
    await faults.plant({ verb: 'ensureTemplate', kind: 'transient', atCall: 2, times: 2 })
    const outcomes = []
    for (let call = 1; call <= 4; call++)
      outcomes.push(
        await driver.ensureTemplate({ ...someSpec().template, id: newId() }, signal).then(
          () => 'ok',
          (error: { kind: string }) => error.kind,
        ),
      )
    expect(outcomes).toEqual(['ok', 'transient', 'transient', 'ok'])
  })

  test('says whether a retry can help', async () => {
    await faults.plant({ verb: '*', kind: 'permanent' })
    await expect(driver.facts(signal)).rejects.toMatchObject({ kind: 'permanent', retry: false })
    await faults.plant({ verb: '*', kind: 'transient' })
    await expect(driver.facts(signal)).rejects.toMatchObject({ kind: 'transient', retry: true })
  })

  test('of a guest has a console tail', async () => {
    await faults.plant({ verb: 'ensureReady', kind: 'guest_failed' })
    const { vmId } = await create()
    const boot = driver.ensureReady(vmId, { timeoutMs: 1 }, signal)
    await expect(boot).rejects.toMatchObject({ kind: 'guest_failed', retry: false, consoleTail: [expect.stringContaining('panic')] })
  })

  test('can be injected by another process and cleared', async () => {
    await faults.plant({ verb: 'health', kind: 'transient', times: 100 })
    await expectKind(fixture.open().health(signal), 'transient')
    await faults.clear()
    expect((await driver.health(signal)).problems).toEqual([])
  })

  test('that hangs ends with the signal', async () => {
    await faults.plant({ verb: 'ensureRunning', kind: 'hang' })
    const abort = new AbortController()
    const hanging = driver.ensureRunning(someSpec(), abort.signal)
    abort.abort()
    await expectKind(hanging, 'aborted')
  })

  test('halfway leaves an incomplete snapshot, which is completed or removed', async () => {
    const { vmId } = await create()
    const snapshotId = newId()
    const kinds = async () => (await volumesOf(vmId)).map(({ kind, complete }) => `${kind} ${complete}`).sort()
    await faults.plant({ verb: 'ensureSnapshot', kind: 'halfway' })
    await expectKind(driver.ensureSnapshot(vmId, snapshotId, signal), 'transient')
    expect(await kinds()).toEqual(['disk true', 'seed true', 'snapshot false'])
    await expectKind(driver.ensureDisk(someSpec({ vmId, generation: 2 }), { from: 'snapshot', snapshotId }, signal), 'not_found')
    await driver.ensureSnapshot(vmId, snapshotId, signal)
    expect(await kinds()).toContain('snapshot true')
    await driver.ensureNoSnapshot(vmId, snapshotId, signal)
    expect(await kinds()).toEqual(['disk true', 'seed true'])
  })

  test('halfway through a purge leaves what the next call removes', async () => {
    const { vmId } = await create()
    await faults.plant({ verb: 'ensurePurged', kind: 'halfway' })
    await expectKind(driver.ensurePurged(vmId, signal), 'transient')
    expect(await driver.findMachine(vmId, signal)).toBeNull()
    expect(await volumesOf(vmId)).toHaveLength(2)
    await driver.ensurePurged(vmId, signal)
    expect(await volumesOf(vmId)).toEqual([])
  })
})

/** Each verb that changes something, on a VM that runs and has a snapshot and a backup. */
const VERBS: Partial<Record<Verb, (driver: Driver, spec: MachineSpec, id: string) => Promise<unknown>>> = {
  ensureDisk: (host, spec) => host.ensureDisk({ ...spec, generation: 2 }, TEMPLATE, signal),
  ensureNoDisk: (host, spec) => host.ensureNoDisk(spec.vmId, 2, signal),
  ensureDefined: (host, spec) => host.ensureDefined(spec, signal),
  ensureRunning: (host, spec) => host.ensureRunning(spec, signal),
  ensureResumed: (host, { vmId }) => host.ensureResumed(vmId, signal),
  ensureStopped: (host, { vmId }) => host.ensureStopped(vmId, { graceMs: 1 }, signal),
  ensureRestarted: (host, { vmId }, id) => host.ensureRestarted(vmId, { actionId: id, graceMs: 1 }, signal),
  ensureReady: (host, { vmId }) => host.ensureReady(vmId, { timeoutMs: 1 }, signal),
  ensurePassword: (host, { vmId }) => host.ensurePassword(vmId, { user: 'root', passwordHash: '$6$x' }, signal),
  ensurePurged: (host, { vmId }) => host.ensurePurged(vmId, signal),
  ensureTemplate: (host, spec, id) => host.ensureTemplate({ ...spec.template, id }, signal),
  ensureNoTemplate: (host, _spec, id) => host.ensureNoTemplate(id, signal),
  ensureInterface: (host, { vmId }) => host.ensureInterface(vmId, someSpec().nics[0]!, signal),
  ensureNoInterface: (host, { vmId, nics }) => host.ensureNoInterface(vmId, nics[0]!.mac, signal),
  ensureSnapshot: (host, { vmId }, id) => host.ensureSnapshot(vmId, id, signal),
  ensureNoSnapshot: (host, { vmId }, id) => host.ensureNoSnapshot(vmId, id, signal),
  ensureBackup: (host, { vmId }, id) => host.ensureBackup(vmId, { backupId: id, parentId: null }, signal),
  ensureNoBackup: (host, { vmId }, id) => host.ensureNoBackup(vmId, id, signal),
}

const MADE_BEFORE = { sizeBytes: expect.any(Number), parentId: null, consistency: 'CRASH' }
/** Answers of a repeated call, where they differ from the first. */
const REPEATED: Partial<Record<Verb, object>> = {
  ensureStopped: { how: 'already' },
  ensureRestarted: { how: 'already' },
  ensureBackup: MADE_BEFORE,
}

describe.each(Object.entries(VERBS))('%s', (verb, call) => {
  test.each(['lost_answer', 'halfway', 'transient'] as const)('can be repeated after %s', async (kind) => {
    const spec = await create()
    const id = newId()
    await faults.plant({ verb: verb as Verb, kind })
    const first = call(driver, spec, id).then(
      () => 'done',
      (error: { retry: boolean }) => error.retry,
    )
    expect(kind === 'halfway' ? ['done', true] : [true]).toContain(await first)
    await faults.clear()
    const answer = await call(driver, spec, id)
    expect(await call(fixture.open(), spec, id)).toEqual(REPEATED[verb as Verb] ?? answer)
  })
})

test('after a lost reply the state of the host tells whether it happened', async () => {
  const spec = someSpec()
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await faults.plant({ verb: 'ensureRunning', kind: 'lost_answer' })
  await expectKind(driver.ensureRunning(spec, signal), 'unknown_outcome')
  expect(await driver.findMachine(spec.vmId, signal)).toMatchObject({ power: 'running' })
})

test('a running backup is cancelled when another process removes it', async () => {
  const { vmId } = await create()
  const backupId = newId()
  const removeMeanwhile = () => fixture.open().ensureNoBackup(vmId, backupId, signal)
  const slow = fixture.open({ pace: { delays: realPace.delays, wait: removeMeanwhile } })
  await expectKind(slow.ensureBackup(vmId, { backupId, parentId: null }, signal), 'cancelled')
  expect((await volumesOf(vmId)).map((volume) => volume.kind).sort()).toEqual(['disk', 'seed'])
})
