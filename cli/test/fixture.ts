// Runs the command against a real server: in this process for speed, or as a child process for signals, exit codes and terminals.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll } from 'vitest'
import { sdkFixture } from '../../sdk/test/fixture.ts'
import type { TestAppOptions } from '../../server/test/harness.ts'
import { eventually } from '../../server/test/processes.ts'
import { run } from '../src/program.ts'
import { screen } from './screen.ts'

const BERTH = join(import.meta.dirname, '../bin/berth.mjs')

export interface Outcome {
  code: number
  stdout: string
  stderr: string
}

export type Env = Record<string, string>

/** In this process. `isTTY` makes stdin, stdout and stderr claim to be a terminal. */
export async function berth(env: Env, args: string[], stdin = '', { isTTY = false } = {}): Promise<Outcome> {
  const output = { stdout: '', stderr: '' }
  const stream = (name: 'stdout' | 'stderr') => ({ write: (text: string) => void (output[name] += text), isTTY })
  const input = Object.assign(Readable.from([stdin]), { isTTY }) as unknown as NodeJS.ReadStream
  return { code: await run(args, { env, stdin: input, stdout: stream('stdout'), stderr: stream('stderr') }), ...output }
}

/** As a child process with pipes. */
export function start(env: Env, args: string[]) {
  const child = spawn(process.execPath, [BERTH, ...args], { env: { PATH: process.env['PATH']!, ...env }, stdio: 'pipe' })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text))
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code), ...output }))
  afterAll(() => void child.kill('SIGKILL'))
  return { child, output, ended }
}

/** As a child process on a pseudo-terminal of `script` (Debian's bsdutils). Resolves with the final screen. */
export function onTerminal(env: Env, args: string[], { by = 'exec', redirect = '' } = {}) {
  const words = [process.execPath, BERTH, ...args].map(quote)
  const child = spawn('script', ['-qec', `stty cols 120; ${by} ${words.join(' ')} ${redirect}`, '/dev/null'], {
    env: { PATH: process.env['PATH']!, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let raw = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (raw += text))
  afterAll(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code), raw, screen: screen(raw) }))
  return { type: (keys: string) => child.stdin.write(keys), text: () => raw, ended }
}

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

export async function createCliFixture(options: TestAppOptions = {}) {
  const app = await sdkFixture(options)
  const home = mkdtempSync(join(tmpdir(), 'berth-cli-'))
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const envOf = ({ token }: { token: string }): Env => ({ BERTH_URL: app.baseUrl, BERTH_TOKEN: token, HOME: home, TZ: 'UTC' })
  return {
    ...app,
    home,
    envOf,
    /** Runs queued workflows until the command has ended. */
    async whileWorking<T>(work: Promise<T>): Promise<T> {
      let over = false
      const end = (): void => void (over = true)
      work.then(end, end)
      await eventually(async () => {
        await app.settle()
        return over
      })
      return work
    },
  }
}
