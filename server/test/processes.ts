// The product as operators run it: real processes of `berthd`, with only the settings of the test.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { runInCommandProcess } from './command-process.ts'

export const BERTHD = join(import.meta.dirname, '../bin/berthd.mjs')
const PUBLIC_PATH = '/api/public/v1'

export type Settings = Record<string, string>

const children = new Set<ChildProcess>()
const endAll = (): void => {
  for (const child of children) child.kill('SIGKILL')
}
afterAll(endAll)
process.once('exit', endAll) // test files share this module, so the listener is added once

/** Without the settings of the test run itself. */
export function cleanEnvironment(): Settings {
  const { PATH = '', HOME = '', TMPDIR = '' } = process.env
  // Tests do not use this machine's libvirt unless they ask for it.
  return { PATH, HOME, ...(TMPDIR && { TMPDIR }), BERTH_HYPERVISOR: 'simulated' }
}

function start(program: string, args: string[], settings: Settings, prefix: string[] = []) {
  const environment = { ...cleanEnvironment(), ...settings }
  const [command, ...rest] = [...prefix, process.execPath, program, ...args]
  const child = spawn(command!, rest, { stdio: ['ignore', 'pipe', 'pipe'], env: environment })
  children.add(child)
  const text = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (more: string) => (text[name] += more))
  const ended = once(child, 'close').then(([code, signal]) => {
    children.delete(child)
    return (code ?? signal) as number | string
  })
  return { child, text, ended }
}

export interface Outcome {
  code: number | string
  stdout: string
  stderr: string
}

/** Runs a command to its end. */
export const berthd = (settings: Settings, ...args: string[]): Promise<Outcome> => berthdAt(BERTHD, settings, ...args)

/** The same in a process that has run others before, where the test is about what the command does. */
export const quickBerthd = (settings: Settings, ...args: string[]): Promise<Outcome> =>
  runInCommandProcess(args, { ...cleanEnvironment(), ...settings })

/** The same of another release. */
export async function berthdAt(program: string, settings: Settings, ...args: string[]): Promise<Outcome> {
  const { text, ended } = start(program, args, settings)
  return { code: await ended, ...text }
}

const jsonOf =
  (run: typeof berthd) =>
  async <T = Record<string, string>>(settings: Settings, ...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run(settings, ...args, '--json')
    if (code !== 0) throw new Error(`berthd ${args.join(' ')}: exit code ${code}: ${stderr}`)
    return JSON.parse(stdout) as T
  }

/** They run a command that must succeed, and return its JSON output. */
export const berthdJson = jsonOf(berthd)
export const quickBerthdJson = jsonOf(quickBerthd)

export interface Service {
  pid: number
  /** URL of the public API. */
  url: string
  /** All output so far. */
  output: () => string
  /** Resolves to the exit code or signal. */
  ended: Promise<number | string>
  kill(signal: NodeJS.Signals): Promise<number | string>
}

/** Starts `up`, `api`, `worker` or a test's own program, and waits until it is ready. `prefix`: a command that becomes it, such as setpriv. */
export async function service(settings: Settings, command: string, berthd = BERTHD, prefix: string[] = []): Promise<Service> {
  const program = /\.m?[tj]s$/.test(command) ? { path: command, args: [] } : { path: berthd, args: [command] }
  const { child, text, ended } = start(program.path, program.args, settings, prefix)
  const output = (): string => text.stdout + text.stderr
  let over = false
  void ended.then(() => (over = true))
  await eventually(async () => {
    if (over) throw new Error(`${command} has ended: ${output()}`)
    return /ready/.test(text.stdout)
  }, 60_000)
  const kill = (signal: NodeJS.Signals): Promise<number | string> => {
    child.kill(signal)
    return ended
  }
  const address = /http:\/\/[\d.]+:\d+/.exec(text.stdout)?.[0]
  return { pid: child.pid!, url: `${address}${PUBLIC_PATH}`, output, ended, kill }
}

export async function eventually<T>(look: () => Promise<T | undefined | false | null>, withinMs = 30_000): Promise<T> {
  const elapsed = stopwatch()
  for (;;) {
    const found = await look()
    if (found) return found
    if (elapsed() > withinMs) throw new Error(`It did not happen within ${withinMs / 1000} s`)
    await sleep(20)
  }
}

export const get = (url: string, token: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, { headers: { 'x-api-key': token, ...headers } })
