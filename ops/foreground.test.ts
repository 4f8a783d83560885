import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'

/**
 * Runs `program` through runInForeground in a separate process, and ends the program with that process.
 * `under.npm`: as the child of a shell, as npm does. `under.load`: the process gets no CPU for a second after it has started the program.
 */
function runThrough(program: string, under: { npm?: boolean; load?: boolean } = {}) {
  const module = new URL('./foreground.mjs', import.meta.url).href
  const wrapper = `${under.load ? stallAfterSpawn : ''}
    const { runInForeground } = await import(${JSON.stringify(module)})
    process.exitCode = await runInForeground(process.execPath, ['--eval', ${JSON.stringify(endWithParent + program)}])`
  const command = [process.execPath, '--input-type=module', '--eval', wrapper]
  const [file, ...args] = under.npm ? ['sh', '-c', '"$@"; exit', 'sh', ...command] : command
  const child = spawn(file!, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
    env: { ...process.env, npm_lifecycle_event: under.npm ? 'start' : '' },
  })
  const lines = createInterface(child.stdout)
  return { pid: child.pid!, exited: once(child, 'exit'), nextLine: async () => String((await once(lines, 'line'))[0]) }
}

const endWithParent = `process.on('disconnect', () => setImmediate(() => process.exit()));`

const stallAfterSpawn = `
    const childProcess = (await import('node:child_process')).default
    const { spawn } = childProcess
    childProcess.spawn = (...args) => {
      const child = spawn(...args)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
      return child
    }
    ;(await import('node:module')).syncBuiltinESMExports()`

// Says how often it was asked to stop, and stops when nothing more has come for a moment.
const counting = `
  let heard = 0
  process.on('SIGINT', () => {
    heard++
    setTimeout(() => { console.log('heard ' + heard); process.exit(7) }, 200)
  })
  setInterval(() => {}, 1000)
  console.log('ready')`

describe('a program run in the foreground', () => {
  test('returns its exit code', async () => {
    expect(await runThrough('process.exit(3)').exited).toEqual([3, null])
  })

  test('returns 128 + signal when a signal ends it', async () => {
    expect(await runThrough(`process.kill(process.pid, 'SIGKILL')`).exited).toEqual([137, null])
  })

  test('receives Ctrl-C once, although the process group and npm both send it', async () => {
    const program = runThrough(counting)
    expect(await program.nextLine()).toBe('ready')
    const heard = program.nextLine()
    process.kill(-program.pid, 'SIGINT')
    process.kill(program.pid, 'SIGINT')
    expect(await heard).toBe('heard 1')
    expect(await program.exited).toEqual([7, null])
  })

  test.each([false, true])('receives a signal that is sent to its parent only (parent stalled: %s)', async (load) => {
    const program = runThrough(`process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log('ready')`, { load })
    expect(await program.nextLine()).toBe('ready')
    process.kill(program.pid, 'SIGTERM')
    expect(await program.exited).toEqual([5, null])
  })

  test('notices that its parent was killed', async () => {
    const program = runThrough(`process.on('disconnect', () => { console.log('alone'); process.exit() }); console.log('ready')`)
    expect(await program.nextLine()).toBe('ready')
    const heard = program.nextLine()
    process.kill(program.pid, 'SIGKILL')
    expect(await heard).toBe('alone')
  })

  test.each([false, true])('is stopped when npm, the parent of its parent, is killed (parent stalled: %s)', async (load) => {
    const stopping = `process.on('SIGTERM', () => { console.log('stopping'); process.exit() }); setInterval(() => {}, 1000); console.log('ready')`
    const program = runThrough(stopping, { npm: true, load })
    expect(await program.nextLine()).toBe('ready')
    const heard = program.nextLine()
    process.kill(program.pid, 'SIGKILL')
    expect(await heard).toBe('stopping')
  })
})
