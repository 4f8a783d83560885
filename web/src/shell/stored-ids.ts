// Ids that this browser remembers: the newest hundred of a list.
const MOST = 100

export function idsIn(text: string): string[] {
  try {
    const ids: unknown = JSON.parse(text)
    return Array.isArray(ids) ? ids.filter((each) => typeof each === 'string') : []
  } catch {
    return []
  }
}

export const storedText = (key: string): string => localStorage.getItem(key) ?? '[]'
export const readIds = (key: string): string[] => idsIn(storedText(key))

export function storeIds(key: string, ids: string[]): string[] {
  const kept = ids.slice(-MOST)
  localStorage.setItem(key, JSON.stringify(kept))
  return kept
}
