// Which announcements were dismissed in this browser: the newest hundred.
const KEY = 'berth:dismissed'
const MOST = 100

export function dismissedIds(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

export function dismiss(id: string): string[] {
  const ids = [...dismissedIds().filter((each) => each !== id), id].slice(-MOST)
  localStorage.setItem(KEY, JSON.stringify(ids))
  return ids
}
