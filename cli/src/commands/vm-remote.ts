import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Vm } from '@berth/sdk'
import type { CommandContext } from '../command-context.ts'
import { defineCommand } from '../command.ts'
import { ChildExitError, CliError, EXIT, neededFor } from '../exit-codes.ts'
import { shellWord } from '../format.ts'
import { message } from '../result.ts'
import { sanitizeTerminal } from '../style.ts'

interface SshOptions {
  user?: string
  identity?: string
  port?: string
  print?: true
}

export const ssh = defineCommand<SshOptions>({
  name: 'ssh',
  description: 'log in to a VM over SSH',
  args: '<vm> [command...]',
  options: [
    ['-l, --user <name>', 'login user; default: that of the OS template, or of the rescue'],
    ['-i, --identity <file>', 'private key file'],
    ['-p, --port <number>', 'SSH port; default: 22'],
    ['--print', 'print the ssh command instead of running it'],
  ],
  example: 'vm ssh web-1 -- uptime',
  async run(ctx, options, text: string, ...rest: unknown[]) {
    const argv = await buildSshCommand(ctx, options, await ctx.getVm(text), (rest[0] as string[] | undefined) ?? [])
    if (options.print) return message(argv, argv.join(' '), argv.map(shellQuote).join(' '))
    throw new ChildExitError(await runSsh(ctx, argv))
  },
})

/**
 * VMs get addresses that other VMs had before, so the host key is stored under the VM's id. Each rescue has a new system with host keys of
 * its own.
 */
async function buildSshCommand(ctx: CommandContext, { user, identity, port }: SshOptions, vm: Vm, command: string[]): Promise<string[]> {
  if (vm.status !== 'RUNNING') throw new CliError(EXIT.conflict, `${vm.name} is ${vm.status}. ${adviceFor(vm)}`)
  const address = vm.ipAddress ?? vm.ipv6Address
  if (!address) throw new CliError(EXIT.conflict, `${vm.name} has no IP address. Use its console: berth vm console ${shellWord(vm.name)}`)
  const login = user ?? vm.rescue?.user ?? (await userOfTemplate(ctx, vm))
  return [
    'ssh',
    '-o',
    `HostKeyAlias=berth-${vm.id}${vm.rescue ? `-rescue-${Date.parse(vm.rescue.since)}` : ''}`,
    '-o',
    'StrictHostKeyChecking=accept-new',
    ...(identity ? ['-i', identity] : []),
    ...(port ? ['-p', port] : []),
    '--', // a user that the server names may look like an option
    `${login}@${address}`,
    ...command,
  ]
}

const userOfTemplate = async ({ berth }: CommandContext, { osTemplate }: Vm): Promise<string> =>
  (await berth.osTemplates.get(osTemplate.slug).catch(neededFor('to know who logs in; --user does without it'))).defaultUser

/** A way that is open: one that never came up cannot be started. */
function adviceFor({ name: unquoted, allowedActions, osTemplate }: Vm): string {
  const name = shellWord(unquoted)
  const verb = ['start', 'unshelve', 'rebuild'].find((each) => allowedActions.includes(each))
  if (verb === undefined) return `To see more: berth vm get ${name}`
  return `To ${verb} it: berth vm ${verb} ${name}${verb === 'rebuild' ? ` --os ${osTemplate.slug}` : ''}`
}

const shellQuote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

async function runSsh({ io }: CommandContext, [program, ...args]: string[]): Promise<number> {
  const child = spawn(program!, args, { stdio: 'inherit', env: io.env })
  const ignore = (): void => {} // Ctrl-C goes to the remote side of ssh
  process.on('SIGINT', ignore)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals]
    return code ?? 128 + constants.signals[signal]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new CliError(EXIT.failed, 'ssh is not installed. Install it: sudo apt-get install openssh-client')
  } finally {
    process.off('SIGINT', ignore)
  }
}

/** Ctrl-]. Every other key goes to the VM, Ctrl-C too. */
const ESCAPE_KEY = 0x1d
/** WebSocket close code of RFC 6455. */
const NORMAL_CLOSURE = 1000

export const openConsole = defineCommand<{ type?: 'serial' | 'vnc'; url?: true }>({
  name: 'console',
  description: "open a VM's serial console in this terminal; Ctrl-] exits",
  args: '<vm>',
  options: [
    ['--type <type>', 'serial (default), or vnc with --url'],
    ['--url', 'print the console URL; valid once, for one minute'],
  ],
  example: 'vm console web-1',
  async run(ctx, { type = 'serial', url }, vm: string) {
    if (type !== 'serial' && !url)
      throw new CliError(EXIT.usage, 'VNC cannot be shown in a terminal. Add --url and open the URL with noVNC')
    const link = await ctx.berth.vms.openConsole(await ctx.resolveId('vm', vm), type)
    if (url) return { data: link, names: [link.url], text: () => sanitizeTerminal(link.url) }
    await attachTerminal(ctx, link.url)
  },
})

async function attachTerminal(ctx: CommandContext, url: string): Promise<void> {
  const { stdin, stdout } = ctx.io
  const { WebSocket } = await import('ws') // imported on demand: it loads HTTP and TLS, for which other commands need not wait
  const socket = new WebSocket(url)
  socket.on('message', (data: Buffer) => stdout.write(data.toString()))
  const closed = once(socket, 'close') as Promise<[number, Buffer]>
  await Promise.race([once(socket, 'open'), closed])
  ctx.printNote('Connected. Press Ctrl-] to exit.')
  const close = (): void => socket.close(NORMAL_CLOSURE)
  const sendKeys = (keys: Buffer): void => (keys.includes(ESCAPE_KEY) ? close() : socket.send(keys))
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', sendKeys).once('end', close)
  const [code, reason] = await closed
  stdin.off('data', sendKeys)
  if (stdin.isTTY) stdin.setRawMode(false)
  stdin.pause()
  stdout.write('\n')
  if (code !== NORMAL_CLOSURE) throw new CliError(EXIT.failed, `Console closed: ${reason.toString() || `code ${code}`}`)
}
