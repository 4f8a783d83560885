// Guests whose agent does not answer.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { DriverError } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import type { Deps } from '../deps.ts'
import { configureGuests } from './guests.reconciler.ts'

describe('a guest that does not answer', async () => {
  const app = await testApp()
  await app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%'`)
  await app.db.run(sql`update address_pools set host_id = null`)
  const { regionId } = await app.given.vmInput()
  const customer = () => app.given.customer({ credit: '1000.00' })

  /** A VM with addresses that its guest is not told of yet. */
  const given = async (owner: Awaited<ReturnType<typeof customer>>, addresses: number) => {
    const { id: vmId } = await app.given.vm(owner)
    for (let i = 0; i < addresses; i++) {
      const { id } = (await owner.post('/addresses', { regionId })).body.data
      await owner.post(`/addresses/${id}/assignment`, { vmId })
      await app.settle({ subjectId: id })
    }
    await app.db.run(sql`update addresses set guest_state = 'PENDING', guest_due_at = ${app.clock.now()} where vm_id = ${vmId}`)
    return vmId
  }
  const states = async (vmId: string) =>
    (await app.db.many<{ guest_state: string }>(sql`select guest_state from addresses where vm_id = ${vmId}`)).map((row) => row.guest_state)

  /** These guests answer nothing until `release`. */
  const silence = (vmIds: string[]) => {
    const calls: string[] = []
    const released = new AbortController()
    const get: Deps['hypervisors']['get'] = async (hostId) => {
      const driver = await app.deps.hypervisors.get(hostId)
      return {
        ...driver,
        ensureGuestAddress: (vmId, address, signal) => {
          if (!vmIds.includes(vmId)) return driver.ensureGuestAddress(vmId, address, signal)
          calls.push(vmId)
          return new Promise((_, reject) => {
            const fail = (): void => reject(new DriverError('transient', 'no answer'))
            const end = AbortSignal.any([signal, released.signal])
            if (end.aborted) fail()
            else end.addEventListener('abort', fail)
          })
        },
      }
    }
    return { calls, deps: { ...app.deps, hypervisors: { ...app.deps.hypervisors, get } }, release: () => released.abort() }
  }

  test('does not delay those of other accounts, also such as become due meanwhile', async () => {
    const [owner, stranger] = [await customer(), await customer()]
    const silent = [await given(owner, 3), await given(owner, 3), await given(owner, 3)]
    app.clock.advance('1s')
    const other = await given(stranger, 1)
    const { calls, deps, release } = silence(silent)
    const run = configureGuests.runOnce(deps)
    await expect.poll(() => states(other), { timeout: 5_000 }).toEqual(['CONFIGURED'])
    await expect.poll(() => calls).toHaveLength(2)
    const late = await given(stranger, 1)
    await expect.poll(() => states(late), { timeout: 5_000 }).toEqual(['CONFIGURED'])
    release()
    await run
    // Once each, whatever the number of its addresses.
    expect(calls.toSorted()).toEqual(silent.toSorted())
  })

  test('leaves turns to those that answered last time, however many accounts are silent', async () => {
    const silent = await Promise.all(Array.from({ length: 8 }, async () => given(await customer(), 1)))
    await app.db.run(sql`update addresses set guest_reason = 'The guest agent does not answer' where vm_id = any(${silent}::text[])`)
    app.clock.advance('1s')
    const other = await given(await customer(), 1)
    const { calls, deps, release } = silence(silent)
    const run = configureGuests.runOnce(deps)
    await expect.poll(() => states(other), { timeout: 5_000 }).toEqual(['CONFIGURED'])
    expect(calls.length).toBeLessThanOrEqual(4)
    release()
    await run
    expect(calls.toSorted()).toEqual(silent.toSorted())
  })

  test('does not keep those from being asked again that answered nothing once', async () => {
    const [silent, booting] = [await given(await customer(), 1), await given(await customer(), 1)]
    const { deps, release } = silence([silent])
    let asked = 0
    const get: Deps['hypervisors']['get'] = async (hostId) => {
      const driver = await deps.hypervisors.get(hostId)
      const ensureGuestAddress: typeof driver.ensureGuestAddress = (vmId, ...rest) =>
        vmId === booting && asked++ === 0
          ? Promise.reject(new DriverError('transient', 'booting'))
          : driver.ensureGuestAddress(vmId, ...rest)
      return { ...driver, ensureGuestAddress }
    }
    const run = configureGuests.runOnce({ ...deps, hypervisors: { ...deps.hypervisors, get } })
    await expect.poll(() => asked).toBe(1)
    app.clock.advance('11s')
    await expect.poll(() => states(booting), { timeout: 10_000 }).toEqual(['CONFIGURED'])
    release()
    await run
  })

  test('has one time limit for all of its addresses', async () => {
    const vmId = await given(await customer(), 3)
    const signals: AbortSignal[] = []
    const get: Deps['hypervisors']['get'] = async (hostId) => {
      const driver = await app.deps.hypervisors.get(hostId)
      const ensureGuestAddress: typeof driver.ensureGuestAddress = (id, address, signal) => {
        if (id === vmId) signals.push(signal)
        return driver.ensureGuestAddress(id, address, signal)
      }
      return { ...driver, ensureGuestAddress }
    }
    await configureGuests.runOnce({ ...app.deps, hypervisors: { ...app.deps.hypervisors, get } })
    expect([signals.length, new Set(signals).size]).toEqual([3, 1])
  })

  test('is asked less and less often, and at once after a boot', async () => {
    const owner = await customer()
    const vmId = await given(owner, 1)
    const { deps, release } = silence([vmId])
    release()
    /** Until it is asked again. */
    const pause = async () => {
      const { due } = await app.db.one<{ due: Date | null }>(sql`select guest_due_at as due from addresses where vm_id = ${vmId}`)
      return (due!.getTime() - app.clock.now().getTime()) / 1000
    }
    const pauses: number[] = []
    for (let i = 0; i < 10; i++) {
      await configureGuests.runOnce(deps)
      pauses.push(await pause())
      app.clock.advance(`${pauses.at(-1)!}s`)
    }
    expect(pauses).toEqual([10, 10, 20, 40, 80, 160, 320, 600, 600, 600])
    await owner.post(`/vms/${vmId}/restart`)
    await app.settle({ subjectId: vmId })
    await configureGuests.runOnce(deps)
    expect(await pause()).toBe(10)
  })
})
