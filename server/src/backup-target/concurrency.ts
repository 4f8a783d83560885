// Work on many items, a few of them at a time: `width` bounds requests and memory.

/** In any order: an item that takes longer holds up no other. */
export async function forEachConcurrently<T>(
  items: Iterable<T> | AsyncIterable<T>,
  width: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const running = new Set<Promise<unknown>>()
  try {
    for await (const item of items) {
      const started: Promise<unknown> = work(item).then(() => running.delete(started))
      started.catch(() => {}) // stays in the set, and fails the next wait
      running.add(started)
      if (running.size >= width) await Promise.race(running)
    }
    await Promise.all(running)
  } finally {
    await Promise.allSettled(running)
  }
}

/** Results come in the order of the items. */
export async function* mapOrdered<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  width: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const pending: Promise<R>[] = []
  try {
    for await (const item of items) {
      const started = work(item)
      started.catch(() => {}) // awaited in its turn
      pending.push(started)
      if (pending.length >= width) yield await pending.shift()!
    }
    while (pending.length > 0) yield await pending.shift()!
  } finally {
    await Promise.allSettled(pending)
  }
}
