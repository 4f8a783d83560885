import { expect, test } from 'vitest'
import { run } from './external-tools.ts'

test('tools that build images run at the lowest priority', async () => {
  expect(await run('prlimit', ['--core=0', 'nice'])).toBe('19\n')
})

test('tools that read files of customers are stopped when they say too much', async () => {
  await expect(run('prlimit', ['--core=0', 'yes'], { limits: {} })).rejects.toThrow(
    'prlimit says too much about the file: more than 1024 KiB',
  )
})

test('tools that read files of customers get neither our environment nor more rights', async () => {
  const unprivileged = { isUnprivileged: true, limits: { fileBytes: 0 } }
  const names = (await run('prlimit', ['--core=0', 'env'], unprivileged)).trim().split('\n')
  expect(new Set(names.map((line) => line.split('=')[0]))).toEqual(new Set(['LC_ALL', 'MALLOC_ARENA_MAX', 'PATH', 'TZ']))
  expect(await run('prlimit', ['--core=0', 'grep', 'NoNewPrivs', '/proc/self/status'], unprivileged)).toBe('NoNewPrivs:\t1\n')
})
