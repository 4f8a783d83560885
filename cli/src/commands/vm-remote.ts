import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Vm } from '@berth/sdk'
import { WebSocket } from 'ws'
import { said } from '../answer.ts'
import type { Call } from '../call.ts'
import { verb } from '../command.ts'
import { EndedWith, EXIT, Failure } from '../failure.ts'
import { harmless } from '../style.ts'

// Hands the terminal over to ssh. VMs get addresses that others had before: the host's key is remembered by the VM's id instead.
interface SshOptions {
  user?: string
  identity?: string
  port?: string
  print?: true
}

export const ssh = verb<SshOptions>({
  name: 'ssh',
  about: 'log in to a VM by ssh',
  args: '<vm> [command...]',
  options: [
    ['-l, --user <name>', "the template's own user unless given"],
    ['-i, --identity <file>', 'private key to log in with'],
    ['-p, --port <number>', '22 unless given'],
    ['--print', 'only say how ssh would be called'],
  ],
  example: 'vm ssh web-1 -- uptime',
  async run(call, options, text: string, ...rest: unknown[]) {
    const argv = await argvOf(call, options, await call.vm(text), (rest[0] as string[] | undefined) ?? [])
    if (options.print) return said(argv, argv.join(' '), argv.map(quote).join(' '))
    throw new EndedWith(await handOver(call, argv))
  },
})

async function argvOf(call: Call, { user, identity, port }: SshOptions, vm: Vm, command: string[]): Promise<string[]> {
  if (vm.status !== 'RUNNING') throw new Failure(EXIT.conflict, `${vm.name} is ${vm.status}. To start it: berth vm start ${vm.name}`)
  if (!vm.ipAddress) throw new Failure(EXIT.conflict, `${vm.name} has no address. Try its console: berth vm console ${vm.name}`)
  const login = user ?? (await call.berth.osTemplates.get(vm.osTemplate.slug)).defaultUser
  return [
    'ssh',
    '-o',
    `HostKeyAlias=berth-${vm.id}`,
    '-o',
    'StrictHostKeyChecking=accept-new',
    ...(identity ? ['-i', identity] : []),
    ...(port ? ['-p', port] : []),
    `${login}@${vm.ipAddress}`,
    ...(command.length > 0 ? ['--', ...command] : []),
  ]
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)

async function handOver({ io }: Call, [program, ...args]: string[]): Promise<number> {
  const child = spawn(program!, args, { stdio: 'inherit', env: io.env })
  const ignore = (): void => {} // Ctrl-C is for the other side of ssh
  process.on('SIGINT', ignore)
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals]
    return code ?? 128 + constants.signals[signal]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw new Failure(EXIT.failed, 'There is no ssh on this machine. Install it: sudo apt-get install openssh-client')
  } finally {
    process.off('SIGINT', ignore)
  }
}

// The serial console of a VM in this terminal. Every key goes to the VM, Ctrl-C too; Ctrl-] comes back.
const LEAVE = 0x1d
const TOOK_LEAVE = 1000

export const openConsole = verb<{ type?: 'serial' | 'vnc'; url?: true }>({
  name: 'console',
  about: "the VM's serial console in this terminal; Ctrl-] leaves it",
  args: '<vm>',
  options: [
    ['--type <type>', 'serial, or vnc with --url'],
    ['--url', 'only print the address, which opens the console once within a minute'],
  ],
  example: 'vm console web-1',
  async run(call, { type = 'serial', url }, vm: string) {
    if (type !== 'serial' && !url)
      throw new Failure(EXIT.usage, 'A screen cannot be shown in a terminal: add --url, and open it with noVNC')
    const link = await call.berth.vms.openConsole(await call.id('vm', vm), type)
    if (url) return { data: link, names: [link.url], text: () => harmless(link.url) }
    await converse(call, link.url)
  },
})

async function converse(call: Call, url: string): Promise<void> {
  const { stdin, stdout } = call.io
  const socket = new WebSocket(url)
  socket.on('message', (data: Buffer) => stdout.write(data.toString()))
  const closed = once(socket, 'close') as Promise<[number, Buffer]>
  await Promise.race([once(socket, 'open'), closed])
  call.note('Connected. Ctrl-] leaves.')
  const leave = (): void => socket.close(TOOK_LEAVE)
  const typed = (keys: Buffer): void => (keys.includes(LEAVE) ? leave() : socket.send(keys))
  if (stdin.isTTY) stdin.setRawMode(true)
  stdin.on('data', typed).once('end', leave)
  const [code, reason] = await closed
  stdin.off('data', typed)
  if (stdin.isTTY) stdin.setRawMode(false)
  stdin.pause()
  stdout.write('\n')
  if (code !== TOOK_LEAVE) throw new Failure(EXIT.failed, `The console has ended: ${reason.toString() || `code ${code}`}`)
}
