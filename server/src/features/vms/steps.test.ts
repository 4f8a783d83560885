import { describe, expect, test } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import { testApp } from '../../../test/harness.ts'
import { awaitReadyOrEnd, requireReady, vmAndDriver } from './steps.ts'

describe('a machine whose QEMU crashes while its guest boots', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const crashed = async (reason: 'crash' | 'guest') => {
    const { id } = await app.given.vm(customer)
    await app.simulated.drift.stopMachine(id, reason)
    const context = { deps: app.deps, input: { vmId: id }, signal: AbortSignal.timeout(60_000), runId: newId() }
    return {
      ready: () => requireReady(context),
      power: async () => (await (await vmAndDriver(context)).driver.findMachine(id, context.signal))?.power,
    }
  }

  test('is started once more', async () => {
    const { ready, power } = await crashed('crash')
    expect(await ready()).toEqual({ readiness: 'reachable', reason: null })
    expect(await power()).toBe('running')
  })

  test('fails when it crashes again', async () => {
    const { ready } = await crashed('crash')
    await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'guest_failed', times: 2 })
    await expect(ready()).rejects.toMatchObject({ kind: 'guest_failed' })
  })

  test('is not started again when the guest itself powered off', async () => {
    const { ready, power } = await crashed('guest')
    await expect(ready()).rejects.toMatchObject({ kind: 'guest_failed' })
    expect(await power()).toBe('stopped')
    await app.rest()
  })
})

describe('a guest that keeps its host waiting after it has booted', async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '1000.00' })
  const hanging = async () => {
    const { id } = await app.given.vm(customer)
    await app.simulated.faults.plant({ verb: 'ensureReady', kind: 'hang' })
    return { deps: app.deps, input: { vmId: id }, signal: AbortSignal.timeout(5_000), runId: newId() }
  }

  test('has what was paid for: it runs', async () => {
    expect(await awaitReadyOrEnd(await hanging(), {}, [], 100)).toEqual({
      readiness: 'booting',
      reason: expect.stringContaining('It runs, but its guest agent does not answer'),
    })
  })

  test('is waited for again where it is the worker that stops', async () => {
    const context = { ...(await hanging()), signal: AbortSignal.timeout(100) }
    await expect(awaitReadyOrEnd(context, {}, [], 60_000)).rejects.toMatchObject({ kind: 'aborted' })
    await app.rest()
  })
})
