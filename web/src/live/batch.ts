// Collects what is stale and hands it over in batches: soon after the first, and with a rest after each that is as long as the batch deserves, so
// that a page stays usable while hundreds of events arrive, and yet shows every change within two seconds.
const COLLECT_MS = 250
/** After a batch of so many milliseconds the page rests three times as long. */
const REST_RATIO = 3
const LONGEST_REST_MS = 1_000

export interface Batch {
  add: (key: string) => void
  stop: () => void
}

export function createBatch(run: (keys: string[]) => Promise<unknown>, now: () => number = () => performance.now()): Batch {
  const keys = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let isStopped = false
  const later = (work: () => void, ms: number): void => {
    if (!isStopped) timer = setTimeout(work, ms)
  }
  const flush = (): void => {
    const batch = [...keys]
    keys.clear()
    const begin = now()
    let isOver = false
    const rest = (): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      later(onRested, Math.min(LONGEST_REST_MS, (now() - begin) * REST_RATIO))
    }
    later(rest, LONGEST_REST_MS) // a request that hangs holds nothing up
    void run(batch).then(rest, rest)
  }
  const onRested = (): void => {
    timer = undefined
    if (keys.size > 0) later(flush, 0)
  }
  return {
    add(key) {
      keys.add(key)
      if (timer === undefined) later(flush, COLLECT_MS)
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
