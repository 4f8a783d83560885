// Fixture of webhook tests: a product that may call local receivers, events, and deliveries on demand.
import type { EventType } from '../src/features/events/schema.ts'
import { recordEvent } from '../src/features/events/service.ts'
import { deliverAllDue } from '../src/features/webhooks/deliver.reconciler.ts'
import { testApp, type TestAppOptions } from './harness.ts'
import { sampleEvent } from './sample-event.ts'

export async function webhookApp(options: Pick<TestAppOptions, 'breaks' | 'outbound'> = {}) {
  const app = await testApp({ environment: { BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true' }, ...options })
  type Customer = Awaited<ReturnType<typeof app.given.customer>>

  const subscribe = async (customer: Customer, url: string, events = ['vm.started']): Promise<{ id: string; secret: string }> => {
    const { status, body } = await customer.post('/webhooks', { url, events })
    if (status !== 201) throw new Error(`POST /webhooks answered ${status}: ${body.error}`)
    return body.data as { id: string; secret: string }
  }
  return {
    ...app,
    subscribe,
    /** Records an event of the customer. */
    happen: (customer: Customer, type: EventType = 'vm.started', changes: object = {}) =>
      app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(customer.accountId, type, changes))),
    /** Sends all due deliveries and waits for their results. */
    deliver: () => deliverAllDue(app.deps),
    webhookOf: async (customer: Customer, id: string) => (await customer.get(`/webhooks/${id}`)).body.data,
    deliveriesOf: async (customer: Customer, id: string, query = '') =>
      (await customer.get(`/webhooks/${id}/deliveries${query}`)).body.data,
  }
}
