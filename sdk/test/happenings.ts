import { recordEvent } from '../../server/src/features/events/service.ts'
import type { SdkWorld } from './world.ts'

/** Makes so many events happen to an account, numbered on. */
export const happenings = (app: Pick<SdkWorld, 'db' | 'deps'>, accountId: string) => {
  let happened = 0
  return async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const type = `test.${++happened}`
      await app.db.tx((tx) => recordEvent(tx, app.deps, { accountId, type, data: { type } }))
    }
  }
}

export async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}
