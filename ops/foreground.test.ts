import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'

/** Runs `program` through runInForeground in another process, below a shell when `under.npm` is set. */
function runThrough(program: string, under: { npm?: boolean } = {}) {
  const module = new URL('./foreground.mjs', import.meta.url).href
  const wrapper = `
    const { runInForeground } = await import(${JSON.stringify(module)})
    process.exitCode = await runInForeground(process.execPath, ['--eval', ${JSON.stringify(program)}])`
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

// Reports how many signals it received, and exits when no more arrive for a moment.
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

  test('returns 128 + signal when it is killed by a signal', async () => {
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

  test('receives a signal sent to its parent', async () => {
    const program = runThrough(`process.on('SIGTERM', () => process.exit(5)); setInterval(() => {}, 1000); console.log('ready')`)
    expect(await program.nextLine()).toBe('ready')
    process.kill(program.pid, 'SIGTERM')
    expect(await program.exited).toEqual([5, null])
  })

  test('sees its IPC channel close when its parent is killed', async () => {
    const program = runThrough(`process.on('disconnect', () => { console.log('alone'); process.exit() }); console.log('ready')`)
    expect(await program.nextLine()).toBe('ready')
    const heard = program.nextLine()
    process.kill(program.pid, 'SIGKILL')
    expect(await heard).toBe('alone')
  })

  test('is stopped when npm is killed', async () => {
    const stopping = `process.on('SIGTERM', () => { console.log('stopping'); process.exit() }); setInterval(() => {}, 1000); console.log('ready')`
    const program = runThrough(stopping, { npm: true })
    expect(await program.nextLine()).toBe('ready')
    const heard = program.nextLine()
    process.kill(program.pid, 'SIGKILL')
    expect(await heard).toBe('stopping')
  })
})
