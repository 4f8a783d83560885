import { expect, test } from 'vitest'
import { run } from './external-tools.ts'

test('tools that build images run at the lowest priority', async () => {
  expect(await run('prlimit', ['--core=0', 'nice'])).toBe('19\n')
})
