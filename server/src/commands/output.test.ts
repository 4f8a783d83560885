import { expect, test } from 'vitest'
import { explain } from './errors.ts'
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

test('a file that may not be opened is explained with where one may be', () => {
  const error = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open', path: '/root/bundle.gz' })
  expect(explain(error)).toMatch(/^This user may not open \/root\/bundle.gz. .* such as \/var\/lib\/berth$/)
})
