// The serial console of a VM in this terminal. Every key goes to the VM, Ctrl-C too; Ctrl-] comes back.
import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Call } from '../../call.ts'
import { verb } from '../../command.ts'
import { EXIT, Failure } from '../../failure.ts'
import { harmless } from '../../style.ts'

const LEAVE = 0x1d
const TOOK_LEAVE = 1000

export const openSerial = verb<{ type?: 'serial' | 'vnc'; url?: true }>({
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
