// What a running command uses: the API client, name resolution, confirmation and waiting for actions.
import { setTimeout } from 'node:timers/promises'
import { ApiError, Berth, type Action, type Pages, type Vm } from '@berth/sdk'
import { resolveServer, type Server } from './contexts.ts'
import { CliError, EXIT, neededFor, usageError } from './exit-codes.ts'
import { shellWord } from './format.ts'
import { isInteractive, type Io } from './io.ts'
import { startProgress, type Progress } from './progress.ts'
import { prompt } from './prompt.ts'
import { resolveId, type ResourceName } from './resolve-id.ts'
import { message, type CommandResult, type Format } from './result.ts'
import { sanitizeTerminal } from './style.ts'

export interface CommonOptions {
  output?: Format
  json?: true
  context?: string
  wait?: boolean
  timeout?: number
  yes?: boolean
  retries?: number
  limit?: number
  cursor?: string
}

export const RETRIES = 3
/** Covers a server restart of about five minutes while an action is awaited. */
const WAIT_RETRIES = 15
/** Shorter retry delays are not reported. */
const REPORTED_DELAY_MS = 2_000

type StartAction = (berth: Berth, vmId: string) => Promise<{ vmId: string; actionId: string }>

export class CommandContext {
  readonly io: Io
  readonly options: CommonOptions
  #berth: Berth | undefined
  #progress: Progress | undefined
  /** How the user calls what has been resolved, by id. */
  readonly #texts = new Map<string, string>()

  constructor(io: Io, options: CommonOptions) {
    this.io = io
    this.options = options
  }

  get berth(): Berth {
    return (this.#berth ??= this.createClient())
  }

  get server(): Server {
    return resolveServer(this.io.env, this.options.context)
  }

  createClient(more: { maxRetries?: number; timeoutMs?: number } = {}): Berth {
    const { retries: maxRetries = RETRIES } = this.options
    const { url, token } = this.server
    return new Berth({ baseUrl: url, token, maxRetries, sleep: (ms, signal, error) => this.#pauseBeforeRetry(ms, signal, error), ...more })
  }

  async resolveId(kind: ResourceName, text: string, parentId?: string): Promise<string> {
    const id = await resolveId(this.berth, kind, text, parentId, parentId && this.#texts.get(parentId))
    this.#texts.set(id, text)
    return id
  }

  resolveIds(kind: ResourceName, texts: string[] = []): Promise<string[]> {
    return Promise.all(texts.map((text) => this.resolveId(kind, text)))
  }

  /** All items; with --limit or --cursor one page of them. */
  async list<Item extends { id: string }>(pages: Pages<Item>): Promise<Item[]> {
    const { limit, cursor } = this.options
    if (limit === undefined && cursor === undefined) return pages.all()
    const { items, nextCursor } = await pages.page({ limit, cursor })
    if (nextCursor) this.printNote(`There may be more: --cursor ${nextCursor}`)
    return items
  }

  /** Waits for the started action and returns the result of `done`; with --no-wait returns the started action. */
  async finish<S extends { vmId: string; actionId: string }>(
    started: S,
    label: string,
    done: (action: Action) => Promise<CommandResult> | CommandResult,
  ): Promise<CommandResult> {
    const { vmId, actionId } = started
    if (this.options.wait === false)
      return message(started, actionId, `Action ${actionId} started. To wait: berth action wait ${vmId} ${actionId}`)
    return done(await this.waitFor(vmId, actionId, label))
  }

  async waitFor(vmId: string, actionId: string, label: string): Promise<Action> {
    const { timeout, retries: maxRetries = WAIT_RETRIES } = this.options
    return this.showing(label, `The action continues. To wait again: berth action wait ${vmId} ${actionId}`, (signal, progress) =>
      this.berth.waitForAction(
        { vmId, actionId },
        { signal, onProgress: (action) => progress.update(action), timeoutMs: timeout && timeout * 1000, maxRetries },
      ),
    )
  }

  /** Shows `label` meanwhile. Ctrl-C ends the wait, not what is waited for: `again` says how to look at that. */
  async showing<T>(label: string, again: string, wait: (signal: AbortSignal, progress: Progress) => Promise<T>): Promise<T> {
    const progress = (this.#progress = startProgress(this.io, label))
    const abort = new AbortController()
    const onInterrupt = (): void => abort.abort(new CliError(EXIT.timeout, again))
    process.once('SIGINT', onInterrupt)
    try {
      return await wait(abort.signal, progress)
    } finally {
      process.off('SIGINT', onInterrupt)
      progress.end()
    }
  }

  /** Of `region`, or of the only one that is available. */
  async resolveRegionId(region: string | undefined): Promise<string> {
    if (region) return this.resolveId('region', region)
    const all = await this.berth.regions.list().catch(neededFor('to choose the region; --region with an id does without it'))
    const regions = all.filter(({ available }) => available)
    if (regions.length === 1) return regions[0]!.id
    throw usageError(`--region is required: ${regions.map(({ slug }) => slug).join(' or ') || 'see berth region list'}`)
  }

  /** Asks before a destructive change. Without a terminal nobody can answer, so only --yes confirms. */
  async confirm(question: string, word: string): Promise<void> {
    if (this.options.yes) return
    if (!isInteractive(this.io)) throw usageError(`${question} Nothing was changed. Without a terminal, add --yes to confirm`)
    const answer = await prompt(this.io, `${question} Type ${word} to confirm: `)
    if (answer.trim() !== sanitizeTerminal(word)) throw cancelled()
  }

  /** Asks before a change that costs money or reboots, if there is something to say. A script without a terminal has decided already. */
  async ask(whatHappens: () => Promise<string | undefined> | string): Promise<void> {
    if (this.options.yes || !isInteractive(this.io)) return
    const what = await whatHappens()
    if (what === undefined) return
    const answer = await prompt(this.io, `${what} Continue? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw cancelled()
  }

  /** Names of the VMs of these items, for people. The id stands for a name that the token may not read. */
  async vmNames(items: { vmId: string | null }[]): Promise<(vmId: string) => string> {
    const { output = 'table', json } = this.options
    const ids = new Set(items.flatMap(({ vmId }) => vmId || []))
    if (ids.size === 0 || output !== 'table' || json) return (vmId) => vmId
    const [first] = ids
    const read = ids.size === 1 ? this.berth.vms.get(first!).then((vm) => [vm]) : this.berth.vms.list().all()
    const names = new Map((await read.catch(unreadable)).map(({ id, name }) => [id, name]))
    return (vmId) => names.get(vmId) ?? vmId
  }

  getVm(text: string): Promise<Vm> {
    return this.resolveId('vm', text).then((id) => this.berth.vms.get(id))
  }

  /** Starts an action on a VM, waits for it, and reports the VM's status. */
  async changeVm(text: string, label: string, start: StartAction): Promise<CommandResult> {
    const id = await this.resolveId('vm', text)
    return this.finish(await start(this.berth, id), `${label} ${text}`, async (action) => {
      const vm = await this.berth.vms.get(id)
      return message(
        action,
        vm.name,
        `${vm.name} is ${vm.status}${vm.shelvedAt === null ? '' : `, shelved: berth vm unshelve ${shellWord(vm.name)} brings it back`}`,
      )
    })
  }

  printNote(text: string): void {
    this.#progress?.clear()
    this.io.stderr.write(`${sanitizeTerminal(text)}\n`)
  }

  #pauseBeforeRetry(ms: number, signal?: AbortSignal, error?: unknown): Promise<void> {
    if (ms >= REPORTED_DELAY_MS) this.printNote(`${retryReason(error)}: retrying in ${Math.ceil(ms / 1000)} s`)
    return sleep(ms, signal)
  }
}

function unreadable(error: unknown): [] {
  if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return []
  throw error
}

const cancelled = (): CliError => new CliError(EXIT.failed, 'Cancelled. Nothing was changed')

/** An unknown error code comes from a proxy in front of the server. */
function retryReason(error: unknown): string {
  if (error === undefined) return 'Connection closed'
  if (!(error instanceof ApiError) || error.code === 'unknown') return 'Server unreachable'
  return error.status === 429 ? 'Rate limit reached' : error.message
}

/** Throws the signal's reason, where Node throws an AbortError. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, { signal }).catch(() => signal!.throwIfAborted())
