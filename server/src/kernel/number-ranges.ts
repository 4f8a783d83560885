// Lists of numbers as Linux and libvirt write them: 0-3,8,10-11.

/** Sorted, each once; null where the text is no such list, or longer than `most`. */
export function parseNumberRanges(text: string, most: number): number[] | null {
  const numbers = new Set<number>()
  for (const part of text.split(',')) {
    const [, first, last = first] = /^\s*(\d{1,6})(?:-(\d{1,6}))?\s*$/.exec(part) ?? []
    if (first === undefined) return null
    const [from, to] = [Number(first), Number(last)]
    if (to < from || to - from >= most) return null
    for (let number = from; number <= to; number++) numbers.add(number)
    if (numbers.size > most) return null
  }
  return [...numbers].toSorted((a, b) => a - b)
}

export function formatNumberRanges(numbers: readonly number[]): string {
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last?.[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  return ranges.map(([from, to]) => (from === to ? from : `${from}-${to}`)).join(',')
}
