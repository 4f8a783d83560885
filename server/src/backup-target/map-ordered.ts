/** Up to `width` items are worked on at a time; results come in the order of the items. Memory stays at `width` items and results. */
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
