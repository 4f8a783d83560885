// Hands the terminal over to ssh. VMs get addresses that others had before: the host's key is remembered by the VM's id instead.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Vm } from '@berth/sdk'
import { said } from '../../answer.ts'
import type { Call } from '../../call.ts'
import { verb } from '../../command.ts'
import { EndedWith, EXIT, Failure } from '../../failure.ts'

interface Options {
  user?: string
  identity?: string
  port?: string
  print?: true
}

export const ssh = verb<Options>({
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

async function argvOf(call: Call, { user, identity, port }: Options, vm: Vm, command: string[]): Promise<string[]> {
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
