// What the console does when it closes, and what it types.
import { describe, expect, test } from 'vitest'
import { causeOf, delayOf, reconnects } from '../src/screens/vm/console-link.ts'
import { linesOf, needsQuestion, PASTE_LIMIT } from '../src/screens/vm/console-screen.ts'
import { COMBINATIONS, KEYS, strokesOf } from '../src/screens/vm/keysyms.ts'

describe('a console that closes', () => {
  test.each([
    [1001, true],
    [1006, true],
    [4001, true],
    [4006, true],
    [4007, true],
    [1000, false],
    [4002, false],
    [4003, false],
    [4004, false],
    [4005, false],
    [4008, false],
  ])('with code %d comes back by itself: %s', (code, comesBack) => expect(reconnects(causeOf(code))).toBe(comesBack))

  test('is asked for again after longer and longer, and given up in the end', () => {
    expect([0, 1, 2, 3, 4, 5, 6].map(delayOf)).toEqual([1, 2, 4, 8, 15, 30, 30])
    expect(delayOf(40)).toBeNull()
  })
})

describe('text that is pasted', () => {
  test('has as many lines as are carried out', () => {
    expect(['ls', 'ls\n', 'cd /\r\nls', 'a\nb\n'].map(linesOf)).toEqual([1, 1, 2, 2])
  })

  test('is asked about when it is long or has many lines', () => {
    expect([needsQuestion('ls -l\n'), needsQuestion('a\nb\nc\nd'), needsQuestion('x'.repeat(PASTE_LIMIT + 1))]).toEqual([false, true, true])
  })

  test('becomes strokes of a US keyboard', () => {
    expect(strokesOf('aB!\r\n\té€\x1b')).toEqual([
      { keysym: 0x61, shift: false },
      { keysym: 0x42, shift: true },
      { keysym: 0x21, shift: true },
      { keysym: KEYS.Enter, shift: false },
      { keysym: KEYS.Tab, shift: false },
      { keysym: 0xe9, shift: false },
      { keysym: 0x0100_20ac, shift: false },
    ])
  })

  test('combinations hold their keys in order', () => {
    expect(COMBINATIONS['Ctrl+Alt+F2']).toEqual(['ControlLeft', 'AltLeft', 'F2'])
    expect(
      Object.values(COMBINATIONS)
        .flat()
        .every((key) => key in KEYS),
    ).toBe(true)
  })
})
