import { describe, expect, test } from 'vitest'
import { consoleFixture, TIMEOUT } from '../../../test/console-client.ts'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { syncDriverPool } from '../hosts/service.ts'
import { suspendByOperator } from '../vms/service.ts'
import { CLOSE_CODES } from './close-codes.ts'

describe('a console session', async () => {
  const app = await testApp()
  const { atPrompt } = await consoleFixture(app)
  const rich = () => app.given.customer({ credit: '10000.00' })
  const events = (vmId: string) =>
    app.db.many<{ type: string; data: object }>(sql`
      select type, data from events where subject_id = ${vmId} and type = 'vm.console_opened' order by number`)
  const openSessions = (vmId: string) => app.db.many(sql`select from console_sessions where vm_id = ${vmId}`)

  test('ends when the VM stops', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = await atPrompt(customer, id)
    await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    expect(await client.closed).toEqual({ code: 4001, reason: 'The VM is no longer running' })
    await expect.poll(() => openSessions(id), TIMEOUT).toEqual([])
  })

  test('survives a restart', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = await atPrompt(customer, id)
    await customer.post(`/vms/${id}/restart`)
    await app.settle({ subjectId: id })
    client.socket.send('still here')
    await expect.poll(client.text, TIMEOUT).toContain('still here')
    client.socket.terminate()
  })

  test('ends when the VM is suspended', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = await atPrompt(customer, id)
    await suspendByOperator(app.deps, id)
    await app.settle({ subjectId: id })
    expect(await client.closed).toEqual({ code: 4003, reason: 'The VM was suspended' })
  })

  test('ends when the VM is deleted', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = await atPrompt(customer, id)
    await customer.delete(`/vms/${id}`)
    await app.settle({ subjectId: id })
    expect(await client.closed).toEqual({ code: 4004, reason: 'The VM was deleted' })
  })

  test('ends when a newer one takes over, which continues', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const older = await atPrompt(customer, id)
    const newer = await atPrompt(customer, id)
    expect(await older.closed).toEqual({ code: 4002, reason: 'A newer session took over this console' })
    newer.socket.send('hello')
    await expect.poll(newer.text, TIMEOUT).toContain('hello')
    expect(await openSessions(id)).toHaveLength(1)
    newer.socket.terminate()
  })

  test('ends when the address of its host changes, and can be reopened there', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = await atPrompt(customer, id)
    await app.db.run(sql`update hosts set uri = 'simulated:///?vcpu=32' where id = ${app.host.id}`)
    const unfollow = syncDriverPool(app.deps, 20)
    expect(await client.closed).toMatchObject({ code: CLOSE_CODES.host_ended[0] })
    unfollow()
    const again = await atPrompt(customer, id)
    again.socket.terminate()
  })

  test('records a vm.console_opened event', async () => {
    const customer = await rich()
    const { id } = await app.given.vm(customer)
    const client = await atPrompt(customer, id)
    expect(await events(id)).toEqual([
      { type: 'vm.console_opened', data: expect.objectContaining({ console: { type: 'serial', sessionId: expect.any(String) } }) },
    ])
    client.socket.terminate()
  })

  test('records one vm.console_opened event a minute for a VM', async () => {
    const customer = await rich()
    const [{ id }, { id: other }] = [await app.given.vm(customer), await app.given.vm(customer, { hostname: 'web-2' })]
    const open = async (vmId: string) => (await atPrompt(customer, vmId)).socket.terminate()
    for (let n = 0; n < 3; n++) await open(id)
    await open(other)
    expect([(await events(id)).length, (await events(other)).length]).toEqual([1, 1])
    app.clock.advance('61s')
    await open(id)
    expect(await events(id)).toHaveLength(2)
  })
})
