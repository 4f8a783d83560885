import { expect, test } from 'vitest'
import { run } from './shell.ts'

test('commands run in the C locale, because their output is parsed', async () => {
  expect(await run('printenv', 'LC_ALL')).toBe('C\n')
})
