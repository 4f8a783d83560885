// Writes that come one by one and are cheaper together: whatever has gathered while one batch was written becomes the next.
import { sleep } from './clock.ts'

export interface BatchOptions {
  tries: number
  pauseMs: number
  onError: (error: unknown) => void
}

/** `isRepeat`: what failed may have been written all the same, when only the answer was lost. Each call answers when its item has been written, or has been given up after `tries` batches that failed. */
export function createBatchWriter<Item>(
  write: (items: Item[], isRepeat: boolean) => Promise<unknown>,
  { tries, pauseMs, onError }: BatchOptions,
) {
  let waiting: { item: Item; done: () => void }[] = []
  let writing = false

  const writeOne = async (batch: typeof waiting): Promise<void> => {
    for (let left = tries; left > 0; left--) {
      try {
        await write(
          batch.map(({ item }) => item),
          left < tries,
        )
        return
      } catch (error) {
        onError(error)
        if (left > 1) await sleep(pauseMs)
      }
    }
  }
  const writeAll = async (): Promise<void> => {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await writeOne(batch)
      batch.forEach(({ done }) => done())
    }
    writing = false
  }
  return (item: Item): Promise<void> =>
    new Promise((done) => {
      waiting.push({ item, done })
      if (!writing) void writeAll()
    })
}
