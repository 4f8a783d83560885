import { recordEvent } from '../../server/src/features/events/service.ts'
import type { SdkWorld } from './world.ts'

/** Records `count` events of an account per call, numbered consecutively. */
export const eventEmitter = (app: Pick<SdkWorld, 'db' | 'deps'>, accountId: string) => {
  let emitted = 0
  return async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const type = `test.${++emitted}`
      await app.db.tx((tx) => recordEvent(tx, app.deps, { accountId, type, data: { type } }))
    }
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
