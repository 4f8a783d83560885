import { describe, expect, test } from 'vitest'
import { complementOf, contains, formatCidr, parseAddress, parseCidr } from './cidr.ts'

const complement = (...ranges: string[]) => complementOf(ranges.map((text) => parseCidr(text)!))

describe('the complement of ranges', () => {
  test.each([
    [[], ['0.0.0.0/0']],
    [['0.0.0.0/0'], []],
    [['0.0.0.0/1', '128.0.0.0/1'], []],
    [['128.0.0.0/1'], ['0.0.0.0/1']],
    [
      ['64.0.0.0/2', '64.0.0.0/3', '0.0.0.0/3'],
      ['32.0.0.0/3', '128.0.0.0/1'],
    ],
  ])('%j is %j', (ranges, expected) => {
    expect(complement(...ranges).map(formatCidr)).toEqual(expected)
  })

  test('ends and begins at the next address', () => {
    const outside = complement('10.0.0.0/24', '10.0.0.77/32', '255.255.255.255/32')
    const has = (address: string) => outside.filter((range) => contains(range, parseAddress(address)!)).length
    expect(['9.255.255.255', '10.0.1.0', '0.0.0.0', '255.255.255.254'].map(has)).toEqual([1, 1, 1, 1])
    expect(['10.0.0.0', '10.0.0.77', '10.0.0.255', '255.255.255.255'].map(has)).toEqual([0, 0, 0, 0])
  })
})
