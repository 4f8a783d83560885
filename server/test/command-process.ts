// Commands of `berthd` in a process that has run others before: to start Node and to load the program takes longer than most commands.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Socket } from 'node:net'

const PROGRAM = join(import.meta.dirname, 'command-process.mjs')
const END = '\u0000end '

/** They wait for the next commands. */
let idle: ChildProcess[] = []
const MAX_IDLE = 2

function startProcess(): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8')
  return child
}

/** What is idle keeps no worker of Vitest from ending. */
function keepsAlive(child: ChildProcess, does: boolean): void {
  const handles = [child, child.channel!, child.stdout as Socket, child.stderr as Socket]
  for (const handle of handles) {
    if (does) handle.ref()
    else handle.unref()
  }
}

/** A command that ends its process ends this one. */
export async function runInCommandProcess(args: string[], environment: Record<string, string>) {
  idle = idle.filter(({ connected }) => connected)
  const child = idle.pop() ?? startProcess()
  keepsAlive(child, true)
  const text = { stdout: '', stderr: '' }
  const whole = new AbortController()
  const ended = once(child, 'close', { signal: whole.signal })
  const marked = new Promise<undefined>((resolve) => {
    for (const name of ['stdout', 'stderr'] as const)
      child[name]!.on('data', (more: string) => {
        text[name] += more
        if (text.stdout.includes(END) && text.stderr.includes(END)) resolve(undefined)
      })
  })
  child.send({ args, environment, end: END })
  const died = (await Promise.race([ended, marked])) as [number | null, string] | undefined
  if (died) return { code: died[0] ?? died[1], ...text }
  ended.catch(() => undefined)
  whole.abort()
  for (const stream of [child.stdout!, child.stderr!]) stream.removeAllListeners('data')
  if (idle.length >= MAX_IDLE) child.disconnect()
  else {
    idle.push(child)
    keepsAlive(child, false)
  }
  const [stdout, code] = text.stdout.split(END) as [string, string]
  return { code: Number(code), stdout, stderr: text.stderr.split(END)[0]! }
}
