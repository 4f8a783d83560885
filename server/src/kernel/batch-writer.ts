// Batches single writes: items that arrive while one batch is written become the next batch.
import { sleep } from './clock.ts'

export interface BatchOptions {
  tries: number
  pauseMs: number
  onError: (error: unknown) => void
}

/**
 * `isRepeat`: a failed batch may have been written, when only the response was lost. Each call resolves when its item is written, or
 * dropped after `tries` failed attempts.
 */
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
