// A VM whose traffic the test controls.
import { sql } from '../src/kernel/database/db.ts'
import type { TestApp } from './harness.ts'

type Customer = Parameters<TestApp['given']['vm']>[0]

export const GB = 1_000_000_000

export async function quietVm(app: TestApp, customer: Customer, input: Record<string, unknown> = {}) {
  const { id } = await app.given.vm(customer, input)
  const { mac } = await app.db.one<{ mac: string }>(sql`select mac from vms where id = ${id}`)
  await app.db.run(sql`update simulated.nics set bytes_per_second = 0 where machine = ${id}`)
  return {
    id,
    mac,
    receive: (received: number, sent = 0) => app.simulated.drift.addTraffic(id, mac, { received, sent }),
    /** As the customer sees it. */
    used: async (): Promise<number> => (await customer.get(`/vms/${id}`)).body.data.bandwidthUsedBytes as number,
    /** As its port has it. */
    limitMbps: async () =>
      (await app.db.maybe<{ limit_mbps: number | null }>(sql`select limit_mbps from simulated.ports where mac = ${mac}`))?.limit_mbps,
    events: async (like: string) =>
      (
        await app.db.many<{ type: string }>(sql`select type from events where subject_id = ${id} and type like ${like} order by number`)
      ).map((event) => event.type),
  }
}

export type QuietVm = Awaited<ReturnType<typeof quietVm>>
