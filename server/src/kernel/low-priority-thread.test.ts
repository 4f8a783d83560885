import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { scratchFolder } from '../../test/scratch-folder.ts'

const program = `
import { isMainThread } from 'node:worker_threads'
import { openThread, serveThread, wholeBuffer } from '${new URL('low-priority-thread.ts', import.meta.url).href}'
serveThread('upper', (bytes) => {
  for (const end = Date.now() + 300; Date.now() < end; );
  return Buffer.from(Buffer.from(bytes).toString().toUpperCase())
})
if (!isMainThread) await new Promise(() => {}) // what follows is for whoever opens the thread
const order = openThread(import.meta.url, 'upper')
const bytes = new Uint8Array(Buffer.from('handed over'))
const answer = order(bytes, wholeBuffer(bytes))
const part = Buffer.from('a part of a pool')
console.log(bytes.length, Buffer.from(await answer).toString(), wholeBuffer(part).length)
console.log(Buffer.from(await order(Buffer.from('again'))).toString())
`

test('a thread gets bytes without a copy, and keeps its process alive until it has answered, no longer', async () => {
  const folder = await scratchFolder()
  onTestFinished(() => folder.remove())
  const file = join(folder.path, 'program.mts')
  await writeFile(file, program)
  const { stdout } = await promisify(execFile)(process.execPath, [file], { timeout: 30_000 })
  expect(stdout).toBe('0 HANDED OVER 0\nAGAIN\n')
})
