import { Berth } from '@berth/sdk'
import { defineCommand, group } from '../command.ts'
import { contextsFile, getContext, overrideWarning, readContexts, writeContexts } from '../contexts.ts'
import { usageError } from '../exit-codes.ts'
import { isInteractive, type Io } from '../io.ts'
import { prompt, readStdin } from '../prompt.ts'
import { message, table } from '../result.ts'

export const login = defineCommand<{ name?: string; keepCurrent?: true }>({
  name: 'login',
  description: 'keep a server and a token for later commands; the token is asked for, or read from stdin',
  args: '[url]',
  options: [
    ['--name <context>', 'what to call it; the host of the server unless given'],
    ['--keep-current', 'go on talking to the server that is used now, if there is one'],
  ],
  example: 'login https://cloud.example.com --name production',
  async run(ctx, { name, keepCurrent }, url: string = 'http://127.0.0.1:8080') {
    if (!URL.canParse(url)) throw usageError(`"${url}" is no address: give one such as https://cloud.example.com`)
    const { io } = ctx
    const context = name ?? new URL(url).host
    const token = await readToken(io, url)
    const account = await new Berth({ baseUrl: url, token, maxRetries: 1 }).account.get()
    const { current, contexts } = readContexts(io.env)
    writeContexts(io.env, { current: (keepCurrent && current) || context, contexts: { ...contexts, [context]: { url, token } } })
    const overruled = !keepCurrent && overrideWarning(io.env, context)
    if (overruled) ctx.printNote(overruled)
    return message(
      { context, url, email: account.email },
      context,
      `Signed in to ${url} as ${account.email}. Kept in ${contextsFile(io.env)}`,
    )
  },
})

/**
 * Never an argument: those can be read by everybody on the machine, and stay in the history of the shell. Nor BERTH_TOKEN, which may be that of
 * another server.
 */
async function readToken(io: Io, url: string): Promise<string> {
  const given = isInteractive(io) ? await prompt(io, `API token of ${url} (vmk_…): `, { hidden: true }) : await readStdin(io.stdin)
  if (!given.trim().startsWith('vmk_'))
    throw usageError('An API token begins with vmk_: make one in the dashboard under Settings, API Keys')
  return given.trim()
}

interface Context {
  name: string
  url: string
  current: boolean
}

const listContexts = defineCommand({
  name: 'list',
  description: 'list servers, without their tokens',
  example: 'context list',
  async run({ io }) {
    const { current, contexts } = readContexts(io.env)
    return table<Context>(
      Object.entries(contexts).map(([name, { url }]) => ({ name, url, current: name === current })),
      { NAME: (each) => each.name, SERVER: (each) => each.url, CURRENT: (each) => each.current },
      'You are not signed in. Run: berth login',
    )
  },
})

const useContext = defineCommand({
  name: 'use',
  description: 'talk to this server from now on',
  args: '<context>',
  example: 'context use production',
  async run(ctx, _, name: string) {
    const { env } = ctx.io
    const { url } = getContext(env, name)
    writeContexts(env, { ...readContexts(env), current: name })
    const overruled = overrideWarning(env, name)
    if (overruled) ctx.printNote(overruled)
    return message({ name, url }, name, overruled ? `${name}, ${url}, is the current context now` : `Commands now go to ${name}, ${url}`)
  },
})

const deleteContext = defineCommand({
  name: 'delete',
  description: 'forget a server and its token; the token stays valid',
  args: '<context>',
  example: 'context delete staging',
  confirms: true,
  async run(ctx, _, name: string) {
    const { env } = ctx.io
    const { url } = getContext(env, name)
    await ctx.confirm(`The token for ${url} will be forgotten.`, name)
    const { current, contexts } = readContexts(env)
    const { [name]: _gone, ...rest } = contexts
    writeContexts(env, { current: current === name ? null : current, contexts: rest })
    return message({ name }, name, `${name} is forgotten`)
  },
})

export const context = group('context', 'the servers you are signed in to', [listContexts, useContext, deleteContext])
