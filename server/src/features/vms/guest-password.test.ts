import { encrypt } from 'unixcrypt'
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { sql } from '../../kernel/database/db.ts'
import { hashGuestPassword } from './model/guest-password.ts'

const app = await testApp()
await app.db.run(sql`update catalog_values set value = 1000000 where name like 'quota.%'`)
await app.db.run(sql`update hosts set vcpu_total = 10000, ram_total_mib = 10000000, disk_total_gib = 1000000`)
const customer = await app.given.customer({ credit: '1000.00' })
const input = await app.given.vmInput()
const password = 'correct horse battery'

/** CPU time of this thread, which does not depend on what else the machine does: the least of three runs, without garbage collection. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const runs: number[] = []
  for (let i = 0; i < 3; i++) {
    const before = process.threadCpuUsage()
    await work()
    const after = process.threadCpuUsage()
    runs.push((after.user + after.system - before.user - before.system) / 1000)
  }
  return Math.min(...runs)
}

test('a guest password is hashed on another thread: other requests are answered meanwhile', async () => {
  await hashGuestPassword(customer.accountId, password) // starts the thread
  const here = await cpuMsOf(() => encrypt(password))
  expect(await cpuMsOf(() => hashGuestPassword(customer.accountId, password))).toBeLessThan(here / 4)
})

test('a dry run hashes nothing', async () => {
  const sent = Array.from({ length: 30 }, () => customer.post('/vms?dryRun=true', { ...input, password })) // more than may wait to be hashed
  expect(new Set((await Promise.all(sent)).map(({ status }) => status))).toEqual(new Set([200]))
})

test('an account that sends many passwords at once is refused, not the others', async () => {
  const [{ id }, other] = [await app.given.vm(customer), await app.given.customer({ credit: '100.00' })]
  const sent = Array.from({ length: 30 }, () => customer.post(`/vms/${id}/password`, { password }))
  expect((await other.post('/vms', { ...input, password })).status).toBe(202)
  const refused = (await Promise.all(sent)).filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThan(10)
  expect([refused[0]!.headers['x-error-code'], refused[0]!.headers['retry-after']]).toEqual(['rate_limited', '1'])
})
