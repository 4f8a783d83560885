import { describe, expect, test } from 'vitest'
import { formatNumberRanges, parseNumberRanges } from '../../kernel/number-ranges.ts'
import { freeByNode, objectionTo, pickNode, sharedCpus } from './cpus.ts'

const host = (changes = {}) => ({
  vcpu_total: 8,
  cpu_nodes: [0, 0, 0, 0, 1, 1, 1, 1] as number[] | null,
  dedicated_cpus: [2, 3, 5, 6, 7],
  ...changes,
})

describe('dedicated CPUs', () => {
  test('are taken from the NUMA node with fewest free ones that are enough', () => {
    const free = freeByNode(host(), new Set([5]))
    expect([...free]).toEqual([
      [0, [2, 3]],
      [1, [6, 7]],
    ])
    const all = freeByNode(host(), new Set())
    expect([1, 2, 3, 4].map((count) => pickNode(all, count))).toEqual([0, 0, 1, undefined])
    expect(pickNode(freeByNode(host({ cpu_nodes: null }), new Set()), 5)).toBe(0) // not known: one node
  })

  test('leave the others to shared VMs', () => {
    expect(sharedCpus(host())).toEqual({ cpus: [0, 1, 4], numaNode: null })
    expect(sharedCpus(host({ dedicated_cpus: [] }))).toBe(null)
    expect(sharedCpus(host({ cpu_nodes: [0, -1, 0, 0], dedicated_cpus: [3] }))).toEqual({ cpus: [0, 2], numaNode: null })
  })

  test('exist, leave one at least, and are not taken from a VM', () => {
    expect(objectionTo(host(), [6, 7], [])).toBe(null)
    expect(objectionTo(host(), [7, 8, 9], [])).toBe('it has no CPU 8-9, only 0-7')
    expect(objectionTo(host(), [0, 1, 2, 3, 4, 5, 6, 7], [])).toMatch('one CPU at least')
    expect(objectionTo(host(), [6, 7], [2, 3, 6])).toBe('dedicated VMs have CPU 2-3: move them away first')
  })

  test('are written as lists', () => {
    expect(parseNumberRanges('4-7, 1,5', 100)).toEqual([1, 4, 5, 6, 7])
    expect(formatNumberRanges([7, 1, 4, 5, 6])).toBe('1,4-7')
    for (const wrong of ['', '4-', '7-4', 'a', '0-100', '-1', '1;2']) expect(parseNumberRanges(wrong, 100)).toBe(null)
  })
})
