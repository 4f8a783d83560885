import { useEffect, useState } from 'react'

/** A page that waits for the API has nothing to do either, but is not there yet. */
const EARLIEST_MS = 1_500
const LATEST_MS = 4_000

let hasBeenIdle = false

/** True once the page is there and has nothing else to do: what is not needed to see it is loaded from then on. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(hasBeenIdle)
  useEffect(() => {
    if (isIdle) return
    let handle: number | undefined
    const begin = (): void => {
      hasBeenIdle = true
      setIdle(true)
    }
    const timer = setTimeout(() => {
      // Safari has no idle callbacks.
      if ('requestIdleCallback' in globalThis) handle = requestIdleCallback(begin, { timeout: LATEST_MS - EARLIEST_MS })
      else begin()
    }, EARLIEST_MS)
    return () => {
      clearTimeout(timer)
      if (handle !== undefined) cancelIdleCallback(handle)
    }
  }, [isIdle])
  return isIdle
}
