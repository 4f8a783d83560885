// Guests of the product on a real host, commands in them, and a client outside that reaches them through the host.
import { spawn } from 'node:child_process'
import { afterAll, expect } from 'vitest'
import { env, run } from '../../libvirt/test/command.ts'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import { GuestShell } from './guest-shell.ts'
import { eventually } from './processes.ts'
import { TIMEOUT_MS, realProduct, type Customer } from './real-product.ts'

export interface Guest {
  vmId: string
  address: string
}

/** The outcome of a connection: echoed, refused, or timed out. */
export type Heard = 'open' | 'refused' | 'silence'

/** Runs a command and returns its output. */
type Runner = (command: string, ...args: string[]) => Promise<string>

const WAIT_S = 3
/** Runs in Node, outside of guests. The time counts from the first packet: on a busy machine a process takes seconds to start. */
const CONNECT = `
const say = (heard) => { console.log(heard); process.exit() }
const [host, port] = process.argv.slice(1)
const socket = require('net').connect({ host, port, timeout: ${WAIT_S * 1000} }, () => socket.write('hello'))
socket.on('data', () => say('open')).on('end', () => say('silence')).on('timeout', () => say('silence'))
socket.on('error', ({ code }) => say(code === 'ECONNREFUSED' ? 'refused' : 'silence'))`
/** Runs in the shell of a guest. */
const CONNECT_IN_GUEST = `echo hello | timeout ${WAIT_S} nc "$0" "$1" 2>&1 | grep -om1 'hello\\|SSH-2\\|refused' || echo silence`

const toHeard = (said: string): Heard => (/refused|silence/.exec(said)?.[0] as Heard | undefined) ?? 'open'

const answering = (port: number): string =>
  `require("net").createServer((socket) => socket.on("error", () => {}).pipe(socket)).listen(${port}, "0.0.0.0")`

const connectFrom = async (run: Runner, address: string, port: number): Promise<Heard> =>
  (await run(process.execPath, '-e', CONNECT, address, String(port))).trim() as Heard

export async function realGuests() {
  const product = await realProduct()
  const shell = new GuestShell(product.host.sandboxes.unix(product.sandbox), TIMEOUT_MS)
  afterAll(() => shell.close())
  const outside = await openOutside(product.sandbox)

  const boot = async (hostname: string, more: object = {}, customer: Customer = product.customer): Promise<Guest> => {
    const order = { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname, ...more }
    const vmId = await customer.order('POST', '/vms', order)
    return { vmId, address: (await customer.get(`/vms/${vmId}`)).ipAddress }
  }
  /** Returns the output regardless of the exit code. */
  const inside = async ({ vmId }: Guest, script: string, ...args: string[]): Promise<string> =>
    (await shell.run(vmId, script, ...args)).output.trim()
  const succeeds = async ({ vmId }: Guest, script: string, ...args: string[]): Promise<boolean> =>
    (await shell.run(vmId, script, ...args)).exitCode === 0

  return {
    ...product,
    outside,
    boot,
    inside,
    succeeds,
    /** Of a deleted VM that was the last one on the host. */
    expectNothingLeft: async (vmId: string) => {
      const { customer, sandbox, broken } = product
      expect(await sandbox.inside('sh', '-c', 'ls -A /var/lib/libvirt/qemu/nvram')).toBe('')
      expect((await customer.send('GET', `/vms/${vmId}`)).status).toBe(404)
      expect(await sandbox.virsh('list', '--all', '--name')).toBe('\n')
      expect(await sandbox.inside('ovn-nbctl', '--bare', '--columns=external_ids', 'list', 'Logical_Switch_Port')).not.toContain(vmId)
      expect(await sandbox.virsh('vol-list', 'berth')).not.toContain(vmId)
      expect(await sandbox.inside('sh', '-c', 'pgrep -c qemu-system || true')).toBe('0\n')
      expect(await sandbox.inside('ip', '-brief', 'link')).not.toMatch(/vnet|tap/)
      expect(await broken()).toBe('')
    },
    pings: (guest: Guest, address: string) => succeeds(guest, 'ping -c 1 -W 2 "$0"', address),
    /** Echo servers in the guest. */
    answerOn: (guest: Guest, ...ports: number[]) =>
      inside(guest, ports.map((port) => `nc -ll -p ${port} -e cat > /dev/null 2>&1 &`).join('\n')),
    /** The same on the host itself. */
    answerOnHost: (port: number) => product.sandbox.inside('sh', '-c', `${process.execPath} -e '${answering(port)}' > /dev/null 2>&1 &`),
    /** And outside. */
    answerOutside: async (...ports: number[]) => {
      const child = spawn(outside.tool, [...outside.enter, process.execPath, '-e', ports.map(answering).join(';')], {
        env,
        stdio: 'ignore',
      })
      afterAll(() => child.kill('SIGKILL'))
      for (const port of ports) await eventually(async () => /open/.test(await connectFrom(outside.run, outside.address, port)))
    },
    connect: {
      fromHost: (address: string, port: number) => connectFrom(product.sandbox.inside, address, port),
      fromOutside: (address: string, port: number) => connectFrom(outside.run, address, port),
      fromGuest: async (guest: Guest, address: string, port: number) =>
        toHeard(await inside(guest, CONNECT_IN_GUEST, address, String(port))),
    },
  }
}

/** A network namespace next to the host, with a route to its guests. Its address is no private one, which guests do not reach. */
async function openOutside(sandbox: Sandbox) {
  const [, , third] = sandbox.address.split('.')
  const [name, address, hostAddress] = [`bo${third}`, '198.51.100.200', '198.51.100.1']
  await sandbox.inside('ip', 'addr', 'add', `${hostAddress}/24`, 'dev', 'mgmt0')
  await run('ip', 'netns', 'del', name).catch(() => undefined) // of a run that was killed: the number is ours
  await run('ip', 'netns', 'add', name)
  afterAll(() => run('ip', 'netns', 'del', name))
  await run('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  await run('ip', 'link', 'set', name, 'master', `bt${third}`, 'up')
  const ip = (...args: string[]): Promise<string> => run('ip', '-n', name, ...args)
  for (const device of ['lo', 'eth0']) await ip('link', 'set', device, 'up')
  await ip('addr', 'add', `${address}/24`, 'dev', 'eth0')
  await ip('route', 'add', '10.77.0.0/16', 'via', hostAddress)
  const inside: Runner = (command, ...args) => run('ip', 'netns', 'exec', name, command, ...args)
  return { address, hostAddress, run: inside, enter: ['netns', 'exec', name] as const, tool: 'ip' }
}
