// One command as it is carried out: its client, its names, its waiting.
import { ApiError, Berth, type Action, type Vm } from '@berth/sdk'
import { said, type Answer, type Format } from './answer.ts'
import { serverOf } from './contexts.ts'
import { EXIT, Failure } from './failure.ts'
import { findId, type KindName } from './find.ts'
import { isAttended, type Io } from './io.ts'
import { openProgress, type Progress } from './progress.ts'
import { ask } from './prompt.ts'
import { harmless } from './style.ts'

export interface CommonOptions {
  output?: Format
  context?: string
  wait?: boolean
  timeout?: number
  yes?: boolean
  retries?: number
}

export const RETRIES = 3
/** A server that is being restarted is waited for, about five minutes. */
const WAIT_RETRIES = 15
/** A shorter pause needs no explanation. */
const LONG_PAUSE_MS = 2_000

type StartAction = (berth: Berth, vmId: string) => Promise<{ vmId: string; actionId: string }>

export class Call {
  readonly io: Io
  readonly options: CommonOptions
  #berth: Berth | undefined
  #progress: Progress | undefined

  constructor(io: Io, options: CommonOptions) {
    this.io = io
    this.options = options
  }

  get berth(): Berth {
    return (this.#berth ??= this.client())
  }

  client(more: { maxRetries?: number; timeoutMs?: number } = {}): Berth {
    const { context, retries: maxRetries = RETRIES } = this.options
    const { url, token } = serverOf(this.io.env, context)
    return new Berth({ baseUrl: url, token, maxRetries, sleep: (ms, signal, error) => this.#pause(ms, signal, error), ...more })
  }

  id(kind: KindName, text: string, of?: string): Promise<string> {
    return findId(this.berth, kind, text, of)
  }

  ids(kind: KindName, texts: string[] = []): Promise<string[]> {
    return Promise.all(texts.map((text) => this.id(kind, text)))
  }

  /** Waits for the end of what was started, unless that is not wanted, and then answers with what came of it. */
  async finish<S extends { vmId: string; actionId: string }>(
    started: S,
    label: string,
    done: (action: Action) => Promise<Answer> | Answer,
  ): Promise<Answer> {
    const { vmId, actionId } = started
    if (this.options.wait === false)
      return said(started, actionId, `Action ${actionId} has begun. To wait for it: berth action wait ${vmId} ${actionId}`)
    return done(await this.waitFor(vmId, actionId, label))
  }

  async waitFor(vmId: string, actionId: string, label: string): Promise<Action> {
    const { timeout, retries: maxRetries = WAIT_RETRIES } = this.options
    const progress = (this.#progress = openProgress(this.io, label))
    const giveUp = new AbortController()
    const interrupted = (): void =>
      giveUp.abort(new Failure(EXIT.timeout, `The action goes on. To wait for it again: berth action wait ${vmId} ${actionId}`))
    process.once('SIGINT', interrupted)
    try {
      return await this.berth.waitForAction(
        { vmId, actionId },
        { signal: giveUp.signal, onProgress: (action) => progress.update(action), timeoutMs: timeout && timeout * 1000, maxRetries },
      )
    } finally {
      process.off('SIGINT', interrupted)
      progress.end()
    }
  }

  /** For what cannot be taken back. Only a person is asked; a script has said what it wants. */
  async confirm(question: string, word: string): Promise<void> {
    if (this.options.yes || !isAttended(this.io)) return
    const answer = await ask(this.io, `${question} Type ${word} to go on: `)
    if (answer.trim() !== harmless(word)) throw new Failure(EXIT.failed, 'Nothing was done')
  }

  vm(text: string): Promise<Vm> {
    return this.id('vm', text).then((id) => this.berth.vms.get(id))
  }

  /** Changes a VM by an action, waits for it, and says how the VM is then. */
  async changeVm(text: string, label: string, start: StartAction): Promise<Answer> {
    const id = await this.id('vm', text)
    return this.finish(await start(this.berth, id), `${label} ${text}`, async (action) => {
      const vm = await this.berth.vms.get(id)
      return said(action, vm.name, `${vm.name} is ${vm.status}`)
    })
  }

  note(sentence: string): void {
    this.#progress?.clear()
    this.io.stderr.write(`${harmless(sentence)}\n`)
  }

  #pause(ms: number, signal?: AbortSignal, error?: unknown): Promise<void> {
    if (ms >= LONG_PAUSE_MS) this.note(`${reasonOf(error)}: trying again in ${Math.ceil(ms / 1000)} s`)
    return pause(ms, signal)
  }
}

/** Why a pause is made. A code that is not known is of something in front of the server. */
function reasonOf(error: unknown): string {
  if (error === undefined) return 'The connection has ended'
  return error instanceof ApiError && error.code !== 'unknown' ? 'The server asks for patience' : 'The server does not answer'
}

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
