import { expect, test } from 'vitest'
import { printable, table, toJson } from './output.ts'

const EVIL = 'a\u001b[2J\u009b\nb\u202e'

test('a cell is one line without control and bidirectional characters', () => {
  const { data, text } = table([{ name: EVIL, tags: [EVIL] }], ['name', 'tags'], '')
  expect(text.split('\n')[1]).toBe('a\ufffd[2J\ufffd\ufffdb\ufffd  a\ufffd[2J\ufffd\ufffdb\ufffd')
  expect(data).toEqual([{ name: EVIL, tags: [EVIL] }])
})

test('text keeps line breaks and tabs only', () => {
  expect(printable('a\tb\r\n\u001bc\u2066')).toBe('a\tb\ufffd\n\ufffdc\ufffd')
})

test('JSON has the same data in printable characters', () => {
  expect(toJson({ EVIL })).toMatch(/^[ -~]*$/)
  expect(JSON.parse(toJson({ EVIL }))).toEqual({ EVIL })
})
