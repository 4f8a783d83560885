// Tests on this machine that a port denied by an nwfilter is closed and an allowed one open. Needs no guest: a process in its own network
// namespace is attached to the public bridge by a veth pair. The kernel removes both when the process exits.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { ErrorCode, type Connection } from '@berth/libvirt'
import { PUBLIC_BRIDGE } from '../hypervisor/libvirt/core/resource-names.ts'
import { uuidOf } from '../hypervisor/libvirt/core/resource-names.ts'
import { found, withLibvirt } from './libvirt.ts'
import { BRIDGE_NF } from './forwarding.ts'
import { GATEWAY_DEVICE } from './plan.ts'
import { SetupError, type Outcome } from './setup-step.ts'
import { findCommand, run, succeeds } from './shell.ts'

const FILTER = 'berth-self-test'
const PORT_DEVICE = 'berth-test0'
const GUEST_DEVICE = 'berth-test1'
/** Link-local: no VM has it and no route leads there. */
const HOST_ADDRESS = '169.254.77.1/30'
const GUEST_ADDRESS = '169.254.77.2'
const [SUBJECT, CONTROL] = [7001, 7002]
const GUEST = `for (const port of [${SUBJECT}, ${CONTROL}]) require('net').createServer((socket) => socket.end()).listen(port, '0.0.0.0')
  process.stdin.resume().on('end', () => process.exit())
  console.log('ready')`

export async function selfTest(): Promise<Outcome> {
  const outcome = (status: Outcome['status'], message: string, fix: string | null = null): Outcome => ({
    step: 'self-test',
    status,
    message,
    fix,
  })
  try {
    await withLibvirt(async (libvirt) => {
      await clear(libvirt)
      const guest = await startGuest()
      try {
        await checkPorts(libvirt, guest)
      } finally {
        await clear(libvirt)
        await end(guest)
      }
    })
    return outcome('ok', 'firewall self-test: a denied port is closed, an allowed one open')
  } catch (error) {
    return outcome(
      'failed',
      (error as Error).message,
      error instanceof SetupError ? error.fix : 'run npx berthd host prepare, and check the steps before this one',
    )
  }
}

async function startGuest(): Promise<ChildProcess> {
  const unshare = await findCommand('unshare')
  if (!unshare) throw new SetupError('There is no command unshare', 'apt-get install util-linux')
  const guest = spawn(unshare, ['--net', process.execPath, '-e', GUEST], { stdio: ['pipe', 'pipe', 'ignore'] })
  await Promise.race([
    once(guest.stdout, 'data'),
    once(guest, 'exit').then(() => Promise.reject(new Error('The test guest cannot be started: network namespaces are not allowed here'))),
  ])
  return guest
}

async function end(guest: ChildProcess): Promise<void> {
  if (guest.exitCode !== null || guest.signalCode !== null) return
  const ended = once(guest, 'exit')
  guest.stdin?.end()
  await ended
}

async function checkPorts(libvirt: Connection, guest: ChildProcess): Promise<void> {
  const pid = String(guest.pid)
  await run('ip', 'link', 'add', PORT_DEVICE, 'type', 'veth', 'peer', 'name', GUEST_DEVICE, 'netns', pid)
  await run('ip', 'link', 'set', PORT_DEVICE, 'master', PUBLIC_BRIDGE, 'up')
  const inGuest = (...args: string[]): Promise<string> => run('nsenter', '-t', pid, '-n', 'ip', ...args)
  await inGuest('addr', 'add', `${GUEST_ADDRESS}/30`, 'dev', GUEST_DEVICE)
  await inGuest('link', 'set', GUEST_DEVICE, 'up')
  await run('ip', 'addr', 'replace', HOST_ADDRESS, 'dev', GATEWAY_DEVICE)
  const [device] = JSON.parse(await inGuest('-json', 'link', 'show', 'dev', GUEST_DEVICE)) as { address: string }[]

  await libvirt.filters.define({ xml: filterXml('drop') })
  await libvirt.filters.createBinding({ xml: bindingXml(device!.address) })
  if (!(await isOpen(CONTROL, OPEN_TIMEOUT_MS))) throw notReached()
  if (await isOpen(SUBJECT, CLOSED_TIMEOUT_MS)) throw notClosed()
  await libvirt.filters.define({ xml: filterXml('accept') })
  if (!(await isOpen(SUBJECT, OPEN_TIMEOUT_MS))) throw new SetupError('A port that a filter allows stays closed', reload)
}

const CLOSED_TIMEOUT_MS = 800
const OPEN_TIMEOUT_MS = 5_000
const reload = 'look for rules that drop bridged packets: iptables -S FORWARD, nft list ruleset'

const notReached = (): SetupError =>
  new SetupError(`A device on ${PUBLIC_BRIDGE} cannot be reached from this host although its filter allows it`, reload)

const notClosed = (): SetupError =>
  new SetupError(
    'A port that a filter denies is open: firewalls of VMs would not work here',
    `check that ${BRIDGE_NF} is 1, and that no rule accepts everything before libvirt's: iptables -S FORWARD`,
  )

const isOpen = (port: number, withinMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: GUEST_ADDRESS, port, timeout: withinMs })
    const answer = (open: boolean) => (): void => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', answer(true)).once('timeout', answer(false)).once('error', answer(false))
  })

/** Same structure as a VM's filter: established connections, then the rules, then the default. */
const filterXml = (verdict: 'drop' | 'accept'): string => `<filter name='${FILTER}' chain='root'><uuid>${uuidOf(FILTER)}</uuid>
<rule action='accept' direction='inout' priority='-900'><all state='ESTABLISHED,RELATED'/></rule>
<rule action='${verdict}' direction='in' priority='0'><tcp dstportstart='${SUBJECT}' state='NEW'/></rule>
<rule action='accept' direction='in' priority='1'><tcp dstportstart='${CONTROL}' state='NEW'/></rule>
<rule action='drop' direction='in' priority='900'><all state='NEW'/></rule>
</filter>`

const bindingXml = (mac: string): string => `<filterbinding><owner><name>${FILTER}</name><uuid>${uuidOf(FILTER)}</uuid></owner>
<portdev name='${PORT_DEVICE}'/><mac address='${mac}'/><filterref filter='${FILTER}'/></filterbinding>`

/** Also removes the remains of an interrupted test. */
async function clear(libvirt: Connection): Promise<void> {
  const binding = await found(libvirt.filters.lookupBinding({ portDevice: PORT_DEVICE }), ErrorCode.noFilterBinding)
  if (binding) await libvirt.filters.deleteBinding({ binding })
  const filter = await found(libvirt.filters.lookupByName({ name: FILTER }), ErrorCode.noFilter)
  if (filter) await libvirt.filters.undefine({ filter })
  await succeeds('ip', 'link', 'del', PORT_DEVICE)
  await succeeds('ip', 'addr', 'del', HOST_ADDRESS, 'dev', GATEWAY_DEVICE)
  await succeeds('ip', 'neigh', 'del', GUEST_ADDRESS, 'dev', GATEWAY_DEVICE) // the next test guest has another MAC
}
