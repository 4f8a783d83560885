import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { scratchFolder } from '../../test/scratch-folder.ts'
import { readOrCreateKey } from './crypto.ts'

const [STARTING, TIMES] = [4, 50]

/** Opens key files one after the other, each at the same moment as the other workers, and returns a digest per key. */
const PROGRAM = `
  const { parentPort, workerData: { url, folder, arrived } } = require('node:worker_threads')
  import(url).then(({ openVault }) => {
    const answers = []
    for (let i = 0; i < ${TIMES}; i++) {
      Atomics.add(arrived, 0, 1)
      while (Atomics.load(arrived, 0) < (i + 1) * ${STARTING}) {}
      try { answers.push(openVault(folder + '/' + i + '.key').digest('key').toString('hex')) } catch (error) { answers.push(error.message) }
    }
    parentPort.postMessage(answers)
  })`

describe('the master key', () => {
  test('is created once and completely under concurrent starts', async () => {
    const folder = await scratchFolder()
    const arrived = new Int32Array(new SharedArrayBuffer(4))
    const workerData = { url: join(import.meta.dirname, 'crypto.ts'), folder: folder.path, arrived }
    const starts = Array.from({ length: STARTING }, async () => {
      const worker = new Worker(PROGRAM, { eval: true, workerData })
      return new Promise<string[]>((resolve, reject) => worker.once('message', resolve).once('error', reject))
    })
    const [first, ...others] = await Promise.all(starts)
    for (const other of others) expect(other).toEqual(first)
    expect(new Set(first).size).toBe(TIMES)
    expect(readdirSync(folder.path).toSorted()).toEqual(Array.from({ length: TIMES }, (_, i) => `${i}.key`).toSorted())
    await folder.remove()
  })
  test('is created also where its folder is not there yet', async () => {
    const folder = await scratchFolder()
    const path = join(folder.path, 'data/of/berth/master.key')
    const made = readOrCreateKey(path)
    expect(readOrCreateKey(path)).toEqual(made)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await folder.remove()
  })
})
