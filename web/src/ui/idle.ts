import { useEffect, useState } from 'react'

const LATEST_MS = 3_000

/** True once the page has nothing else to do: what is not needed to see it is loaded from then on. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false)
  useEffect(() => {
    // Safari has no idle callbacks.
    if (!('requestIdleCallback' in globalThis)) {
      const timer = setTimeout(() => setIdle(true), LATEST_MS)
      return () => clearTimeout(timer)
    }
    const handle = requestIdleCallback(() => setIdle(true), { timeout: LATEST_MS })
    return () => cancelIdleCallback(handle)
  }, [])
  return isIdle
}
