// Which rows of a long list are drawn, and which pages of the API they are on.
export interface RowWindow {
  first: number
  /** Exclusive. */
  end: number
}

interface Scrolled {
  scrollTop: number
  height: number
  rowHeight: number
  total: number
}

/** Drawn above and below what is seen, so that nothing flashes while scrolling. */
const AROUND = 10

export function windowOf({ scrollTop, height, rowHeight, total }: Scrolled): RowWindow {
  const seen = Math.floor(Math.max(0, scrollTop) / rowHeight)
  const first = Math.min(Math.max(0, seen - AROUND), Math.max(0, total - 1))
  return { first, end: Math.min(total, seen + Math.ceil(height / rowHeight) + AROUND) }
}

/** Numbered from 1. */
export function pagesOf({ first, end }: RowWindow, pageSize: number): number[] {
  if (end <= first) return []
  const [from, to] = [Math.floor(first / pageSize), Math.floor((end - 1) / pageSize)]
  return Array.from({ length: to - from + 1 }, (_, index) => from + index + 1)
}
