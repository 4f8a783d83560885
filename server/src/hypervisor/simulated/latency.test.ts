import { expect, test } from 'vitest'
import { expectKind, TEMPLATE } from '../conformance/fixture.ts'
import { realPace, type Pace } from './latency.ts'
import { simulatedFixture, someSpec } from './test-fixture.ts'

const signal = new AbortController().signal

test('calls take as long as on a real host', async () => {
  const waits: number[] = []
  const pace: Pace = { delays: realPace.delays, wait: (ms) => Promise.resolve(void waits.push(ms)) }
  const { open, clock } = await simulatedFixture({ pace })
  const spec = someSpec({ diskGiB: 100 })
  const driver = open()
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
  await expectKind(driver.ensurePassword(spec.vmId, { user: 'root', passwordHash: '$6$x' }, signal), 'transient')
  clock.advance('500ms')
  await driver.ensureReady(spec.vmId, { timeoutMs: 60_000 }, signal)
  await driver.ensureSnapshot(spec.vmId, 'c-snapshot', signal)
  expect(waits).toEqual([400, 70, 400, 1500, 4000]) // template, overlay, start, the rest of the boot, 10 GiB copied
})

test('a guest that boots longer than the timeout has failed', async () => {
  const { open } = await simulatedFixture({ pace: { delays: realPace.delays, wait: () => Promise.resolve() } })
  const spec = someSpec()
  const driver = open()
  await driver.ensureDisk(spec, TEMPLATE, signal)
  await driver.ensureRunning(spec, signal)
  await expectKind(driver.ensureReady(spec.vmId, { timeoutMs: 1_000 }, signal), 'guest_failed')
})

test('an abort ends a wait at once', async () => {
  const abort = new AbortController()
  const waiting = realPace.wait(3_600_000, abort.signal)
  abort.abort()
  await expectKind(waiting, 'aborted')
})
