import { recordEvent } from '../../server/src/features/events/service.ts'
import { sampleEvent } from '../../server/test/sample-event.ts'
import type { SdkFixture } from './fixture.ts'

/** Records `count` events of an account per call. */
export const eventEmitter =
  (app: Pick<SdkFixture, 'db' | 'deps'>, accountId: string) =>
  async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await app.db.tx((tx) => recordEvent(tx, app.deps, sampleEvent(accountId)))
  }

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
