import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { withFileLock } from './file-lock.ts'

const folder = await mkdtemp(join(tmpdir(), 'berth-lock-'))
afterAll(() => rm(folder, { recursive: true }))

test('one at a time; who waits can give up', async () => {
  const path = join(folder, 'lock')
  const order: string[] = []
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const first = withFileLock(path, async () => {
    begin()
    await finished
    order.push('first')
  })
  await begun
  const second = withFileLock(path, async () => void order.push('second'))
  const stop = new AbortController()
  const third = withFileLock(path, async () => void order.push('third'), { signal: stop.signal })
  stop.abort(new Error('given up'))
  await expect(third).rejects.toThrow('given up')
  expect(order).toEqual([])
  finish()
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second'])
})
