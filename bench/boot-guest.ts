// How long guests take by themselves: from when one runs until its agent shows up. On a shared machine this varies by more than all that
// is done around it takes, so it is measured from outside, alike for all, and shown apart.
import { AgentState, DomainLifecycle, Host, type Endpoint } from '@berth/libvirt'

export interface Watch {
  /** Of the last one that was started, in milliseconds. */
  guestMs(): Promise<number>
  close(): Promise<void>
}

export async function watchGuests(endpoint: Endpoint): Promise<Watch> {
  const host = new Host({ endpoint })
  await host.whenUp(30_000)
  let [startedAt, taken] = [0, Promise.withResolvers<number>()]
  await host.subscribe('lifecycle', ({ event }) => {
    if (event === DomainLifecycle.started) [startedAt, taken] = [performance.now(), Promise.withResolvers<number>()]
  })
  await host.subscribe('agent', ({ state }) => {
    if (state === AgentState.connected) taken.resolve(performance.now() - startedAt)
  })
  return { guestMs: () => taken.promise, close: () => host.close() }
}
