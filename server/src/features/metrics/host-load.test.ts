import { expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { ensurePart, MINUTES } from './partitions.ts'
import { bytesOf } from './points.ts'

const app = await testApp()

test('the load of a host is the sum of its VMs, in averages of five minutes, without those that had left', async () => {
  app.clock.set(new Date('2027-03-01T12:00:30Z'))
  const customer = await app.given.customer({ credit: '100.00' })
  const ids = [(await app.given.vm(customer)).id, (await app.given.vm(customer)).id]
  app.clock.set(new Date('2027-03-01T12:00:30Z'))
  await app.db.run(sql`delete from metrics_slots`)
  const begin = new Date('2027-03-01T11:00:00Z')
  for (const [slot, id] of ids.entries())
    await app.db.run(sql`insert into metrics_slots (host_id, slot, vm_id, since) values (${app.host.id}, ${slot}, ${id}, ${begin})`)
  const write = async (minute: number, points: number[]): Promise<void> => {
    const at = addDuration(begin, `${minute}m`)
    await ensurePart(app.db, MINUTES, at)
    await app.db.run(sql`
      insert into metrics_minutes (host_id, at, points) values (${app.host.id}, ${at}, ${bytesOf(new Float32Array(points))})`)
  }
  const unknown = Array.from({ length: 7 }, () => Number.NaN)
  await write(0, [50, 10, 20, 30, 40, 512, 1024, 100, 0, 0, 0, 0, Number.NaN, 1024])
  await write(1, [100, 10, 20, 30, 40, 512, 1024, ...unknown])
  await write(20, [0, 0, 0, 0, 0, 256, 1024])
  const operator = await givenBrowser(app, { isOperator: true })
  const read = async (query = '') => (await operator.get(`/operator/hosts/${app.host.id}/load${query}`)).body.data
  const vcpuOf = async (id: string): Promise<number> =>
    (await app.db.one<{ vcpu: number }>(sql`select vcpu from vms where id = ${id}`)).vcpu
  const [one, other] = [await vcpuOf(ids[0]!), await vcpuOf(ids[1]!)]
  expect(await read()).toEqual([
    {
      at: '2027-03-01T11:00:00.000Z',
      cpus: (0.5 * one + other + one) / 2,
      ramUsedMiB: (512 + 1024 + 512) / 2,
      diskBytesPerSecond: 30,
      networkInBytesPerSecond: 30,
      networkOutBytesPerSecond: 40,
      vms: 2,
    },
    {
      at: '2027-03-01T11:20:00.000Z',
      cpus: 0,
      ramUsedMiB: 256,
      diskBytesPerSecond: 0,
      networkInBytesPerSecond: 0,
      networkOutBytesPerSecond: 0,
      vms: 1,
    },
  ])
  await app.db.run(sql`update metrics_slots set left_at = ${addDuration(begin, '10m')} where vm_id = ${ids[0]!}`)
  expect((await read()).at(-1)).toMatchObject({ vms: 0, ramUsedMiB: 0 })
  app.clock.set(addDuration(begin, '2h'))
  expect(await read('?hours=1')).toEqual([])
  const { body } = await operator.get(`/operator/hosts/${app.host.id}`)
  expect(body.data).toMatchObject({ id: app.host.id, vmCount: 2, storages: [{ name: app.host.name, kind: 'LOCAL' }], ports: { failed: 0 } })
  const actions = await operator.get(`/operator/actions?host=${app.host.id}`)
  expect(actions.body.data.length).toBeGreaterThanOrEqual(2)
  expect((await operator.get('/operator/actions?host=cnowhere1')).body.data).toEqual([])
})
