import { Berth, isApiError, type Account } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { contextsFile, DEFAULT_URL, getContext, overrideWarning, readContexts, writeContexts } from '../contexts.ts'
import { usageError } from '../exit-codes.ts'
import { isInteractive, type Io } from '../io.ts'
import { prompt, readStdin } from '../prompt.ts'
import { message, table } from '../result.ts'

export const login = defineCommand<{ name?: string; keepCurrent?: true }>({
  name: 'login',
  description: 'save a server and API token as a context; prompts for the token, or reads it from stdin',
  args: '[url]',
  options: [
    ['--name <context>', 'context name; default: the host of the server'],
    ['--keep-current', 'do not switch to the new context'],
  ],
  example: 'login https://cloud.example.com --name production',
  async run(ctx, { name, keepCurrent }, url: string = DEFAULT_URL) {
    if (!URL.canParse(url)) throw usageError(`"${url}" is not a valid URL. Example: https://cloud.example.com`)
    const { io } = ctx
    const context = name ?? new URL(url).host
    const token = await readToken(io, url)
    const account = await new Berth({ baseUrl: url, token, maxRetries: 1 }).account.get().catch((error: unknown) => {
      if (!isApiError(error, 'missing_scope')) throw error
      return undefined // the token is right, and may not read whose it is
    })
    const { current, contexts } = readContexts(io.env)
    writeContexts(io.env, { current: (keepCurrent && current) || context, contexts: { ...contexts, [context]: { url, token } } })
    const warning = !keepCurrent && overrideWarning(io.env, context)
    if (warning) ctx.printNote(warning)
    return message(
      { context, url, email: account?.email ?? null, name: account?.name ?? null },
      context,
      `Signed in to ${url}${account ? whoseText(account) : ''}. Saved to ${contextsFile(io.env)}`,
    )
  },
})

const whoseText = ({ email, name }: Account): string => (email === null ? `, to project ${name}` : ` as ${email}`)

/**
 * Never an argument: other users can read arguments in the process list, and shells keep them in the history. Never BERTH_TOKEN: it may belong
 * to another server.
 */
async function readToken(io: Io, url: string): Promise<string> {
  const input = isInteractive(io) ? await prompt(io, `API token for ${url} (vmk_…): `, { hidden: true }) : await readStdin(io.stdin)
  if (!input.trim().startsWith('vmk_')) throw usageError('API tokens start with vmk_. Create one in the dashboard under Settings, API keys')
  return input.trim()
}

interface Context {
  name: string
  url: string
  current: boolean
}

const listContexts = defineCommand({
  name: 'list',
  description: 'list contexts without their tokens',
  example: 'context list',
  async run({ io }) {
    const { current, contexts } = readContexts(io.env)
    return table<Context>(
      Object.entries(contexts).map(([name, { url }]) => ({ name, url, current: name === current })),
      { NAME: (each) => each.name, SERVER: (each) => each.url, CURRENT: (each) => each.current },
      'Not signed in. Run: berth login',
    )
  },
})

const useContext = defineCommand({
  name: 'use',
  description: 'switch to a context',
  args: '<context>',
  example: 'context use production',
  async run(ctx, _, name: string) {
    const { env } = ctx.io
    const { url } = getContext(env, name)
    writeContexts(env, { ...readContexts(env), current: name })
    const warning = overrideWarning(env, name)
    if (warning) ctx.printNote(warning)
    return message({ name, url }, name, warning ? `Current context: ${name}, ${url}` : `Switched to ${name}, ${url}`)
  },
})

const deleteContext = defineCommand({
  name: 'delete',
  description: 'delete a context and its saved token; the token stays valid',
  args: '<context>',
  example: 'context delete staging',
  confirms: true,
  async run(ctx, _, name: string) {
    const { env } = ctx.io
    const { url } = getContext(env, name)
    await ctx.confirm(`The saved token for ${url} will be permanently deleted.`, name)
    const { current, contexts } = readContexts(env)
    const { [name]: _deleted, ...rest } = contexts
    writeContexts(env, { current: current === name ? null : current, contexts: rest })
    return message({ name }, name, `Context ${name} deleted`)
  },
})

export const context = group('context', 'saved servers and tokens', [listContexts, useContext, deleteContext])
