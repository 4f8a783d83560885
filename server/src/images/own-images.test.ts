import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { openImageFiles, type WorkFolder } from './own-images.ts'

test('an image that takes long to fetch keeps no other waiting, and is fetched once', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-images-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const files = openImageFiles(folder)
  const arrived = Promise.withResolvers<void>()
  let times = 0
  const make = (until: Promise<void>) => async (work: WorkFolder) => {
    times++
    await until
    return work.save('fetched', Readable.from([Buffer.from('content')]), 100)
  }
  const fetch = (id: string, until: Promise<void>) => files.fetch(id, 'DISK', make(until), AbortSignal.timeout(20_000))
  const long = [fetch('large', arrived.promise), fetch('large', arrived.promise)]
  await expect.poll(() => times).toBe(1)
  await fetch('small', Promise.resolve())
  expect(await Promise.all(['large', 'small'].map((id) => files.has(id)))).toEqual([false, true])
  arrived.resolve()
  await Promise.all(long)
  expect(times).toBe(2)
  await files.remove('large')
  await files.remove('small')
  expect(await files.list(new Date(8.64e15))).toEqual([])
})
