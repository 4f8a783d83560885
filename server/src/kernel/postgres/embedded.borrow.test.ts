import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type ScratchFolder, scratchFolder } from '../../../test/scratch-folder.ts'
import { borrowEmbeddedPostgres, type EmbeddedPostgres, inspectEmbeddedPostgres, startEmbeddedPostgres } from './embedded.ts'

const settings = { fsync: 'off' }
let folder: ScratchFolder
let dataDir: string

beforeAll(async () => {
  folder = await scratchFolder()
  dataDir = join(folder.path, 'postgres')
})
afterAll(() => folder.remove())

const taken: EmbeddedPostgres[] = []
const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const each of taken.splice(0)) await each.stop()
})

async function borrow(): Promise<EmbeddedPostgres> {
  const borrowed = await borrowEmbeddedPostgres({ dataDir, settings })
  taken.push(borrowed)
  return borrowed
}

async function supervise(): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres({ dataDir, settings })
  taken.push(started)
  return started
}

const isRunning = async (): Promise<boolean> => (await inspectEmbeddedPostgres(dataDir)).running

/** A borrower in another process, which is then killed. */
async function killedBorrower(): Promise<void> {
  const module = new URL('./embedded.ts', import.meta.url).href
  const program = `
    const { borrowEmbeddedPostgres } = await import(${JSON.stringify(module)})
    console.log((await borrowEmbeddedPostgres(${JSON.stringify({ dataDir, settings })})).how)
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  await once(createInterface(child.stdout), 'line')
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

describe('borrowed PostgreSQL', () => {
  test('runs as long as a borrower uses it', async () => {
    expect(await inspectEmbeddedPostgres(dataDir)).toEqual({ dataVersion: undefined, running: false, owner: undefined })
    const first = await borrow()
    const second = await borrow()
    expect([first.how, second.how]).toEqual(['initialised', 'adopted'])
    await first.stop()
    await first.stop()
    expect(await isRunning()).toBe(true)
    await second.stop()
    expect(await inspectEmbeddedPostgres(dataDir)).toEqual({ dataVersion: '18', running: false, owner: undefined })
  })

  test('keeps running while a process supervises it', async () => {
    const owner = await supervise()
    const borrowed = await borrow()
    expect(borrowed.how).toBe('joined')
    await borrowed.stop()
    expect(await inspectEmbeddedPostgres(dataDir)).toMatchObject({ running: true, owner: process.pid })
    await owner.stop()
    expect(await isRunning()).toBe(false)
  })

  test('is adopted by a process that starts supervising it', async () => {
    const borrowed = await borrow()
    const owner = await supervise()
    expect(owner.how).toBe('adopted')
    await borrowed.stop()
    expect(await isRunning()).toBe(true)
  })

  test('is stopped by the next borrower when one was killed', async () => {
    await killedBorrower()
    expect(await isRunning()).toBe(true)
    const next = await borrow()
    expect(next.how).toBe('adopted')
    await next.stop()
    expect(await isRunning()).toBe(false)
  })
})
