import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost, placeOn } from '../../../test/hosts.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { announceMaintenance, cancelMaintenance, listAllMaintenances, type NewMaintenance } from './service.ts'

describe('operator announces a maintenance', async () => {
  const app = await testApp()
  await app.db.run(sql`update address_pools set host_id = null`)
  const other = await givenHost(app, 'other')
  const [ada, bob] = [await app.given.customer({ credit: '100.00' }), await app.given.customer({ credit: '100.00' })]
  const { id: mine } = await placeOn(app, app.host.id, () => app.given.vm(ada))
  const { id: elsewhere } = await placeOn(app, other.id, () => app.given.vm(ada))
  await placeOn(app, other.id, () => app.given.vm(bob))
  const order = (changes: Partial<NewMaintenance> = {}): NewMaintenance => ({
    host: app.host.name,
    startsAt: addDuration(app.clock.now(), '1d'),
    endsAt: addDuration(app.clock.now(), '26h'),
    text: 'New memory.\nYour VM keeps running.',
    ...changes,
  })
  const announce = (changes?: Partial<NewMaintenance>) => app.db.tx((tx) => announceMaintenance(tx, app.deps, order(changes)))
  const cancel = (id: string) => app.db.tx((tx) => cancelMaintenance(tx, app.deps, id))
  const seenBy = async (customer: typeof ada) => (await customer.get('/maintenances')).body.data
  const mailsTo = async ({ email }: typeof ada) =>
    (
      await app.db.many<{ type: string }>(sql`
        select e.type from emails m join events e on e.id = m.event_id where m.recipient = ${email} order by e.number`)
    ).map(({ type }) => type)

  test('to the accounts with a VM on the host, and to no other', async () => {
    const { id, accounts } = await announce()
    expect(accounts).toBe(1)
    const shown = { state: 'SCHEDULED', vmIds: [mine], text: 'New memory.\nYour VM keeps running.' }
    expect(await seenBy(ada)).toEqual([expect.objectContaining(shown)])
    const [{ id: adas }] = await seenBy(ada)
    expect(adas).toMatch(/^c[0-9a-z]{24}$/)
    expect(JSON.stringify(await seenBy(ada))).not.toMatch(new RegExp(`${app.host.id}|${id}`))
    expect(await seenBy(bob)).toEqual([])
    expect([await mailsTo(ada), await mailsTo(bob)]).toEqual([['maintenance.announced'], []])
    const events = await app.db.many(
      sql`select account_id, type, data -> 'maintenance' -> 'vmIds' as "vmIds", data -> 'vms' as vms from events where subject_id = ${adas}`,
    )
    expect(events).toEqual([
      { account_id: ada.accountId, type: 'maintenance.announced', vmIds: [mine], vms: [{ id: mine, name: expect.any(String) }] },
    ])

    app.clock.advance('25h')
    expect(await seenBy(ada)).toMatchObject([{ state: 'IN_PROGRESS' }])
    await placeOn(app, app.host.id, () => app.given.vm(bob))
    expect(await seenBy(ada)).toMatchObject([{ id: adas }])
    expect(await seenBy(bob)).toMatchObject([{ state: 'IN_PROGRESS', vmIds: [expect.any(String)] }])
    expect((await seenBy(bob))[0].id).not.toBe(adas)
    app.clock.advance('2h')
    expect([await seenBy(ada), await seenBy(bob)]).toMatchObject([[{ state: 'COMPLETED' }], []])
    await expect(cancel(id)).rejects.toThrow('Maintenance is COMPLETED already')
  })

  test('and cancels it, which those who were told of it hear', async () => {
    const { id } = await announce({ host: other.id })
    const [{ id: bobs }] = await seenBy(bob)
    expect(await listAllMaintenances(app.db, app.clock.now(), bobs)).toMatchObject([{ id, state: 'SCHEDULED' }])
    expect(await listAllMaintenances(app.db, app.clock.now(), 'cnowhere1')).toEqual([])
    expect(await cancel(bobs)).toEqual({ id, accounts: 2 })
    expect((await seenBy(ada))[0]).toMatchObject({ state: 'CANCELLED', vmIds: [elsewhere] })
    const told = await app.db.many<{ subject_id: string; shown: string }>(sql`
      select subject_id, data -> 'maintenance' ->> 'id' as shown from events where type = 'maintenance.cancelled'`)
    const ids = [(await seenBy(ada))[0].id, (await seenBy(bob))[0].id]
    expect(new Set(told.map(({ subject_id }) => subject_id))).toEqual(new Set(ids))
    expect(new Set(told.map(({ shown }) => shown))).toEqual(new Set(ids))
    expect(new Set([...ids, id]).size).toBe(3)
    expect((await mailsTo(bob)).slice(-2)).toEqual(['maintenance.announced', 'maintenance.cancelled'])
    await expect(cancel(id)).rejects.toThrow('Maintenance is CANCELLED already')
    await expect(cancel('cnowhere1')).rejects.toThrow('Maintenance not found')
    expect(await listAllMaintenances(app.db, app.clock.now())).toMatchObject([{ id, host: 'other', accounts: 2, state: 'CANCELLED' }, {}])
  })

  test('only with a time to come, and plain text', async () => {
    const before = await app.db.one(sql`select count(*) from maintenances`)
    const past = addDuration(app.clock.now(), '0s')
    await expect(announce({ startsAt: order().endsAt })).rejects.toThrow('it must end after it begins')
    await expect(announce({ startsAt: new Date(0), endsAt: past })).rejects.toThrow('in the future')
    for (const text of ['', '  ', 'x'.repeat(2001), 'a\u001b[2J', 'a\u202eb'])
      await expect(announce({ text })).rejects.toThrow('control characters')
    await expect(announce({ host: 'nowhere' })).rejects.toThrow('Host not found')
    expect(await app.db.one(sql`select count(*) from maintenances`)).toEqual(before)
  })
})
