// Tests on this machine that a port denied by a firewall is closed and an allowed one open, and that guests do not reach the host. Needs no VM: a
// process in its own network namespace has an interface in the switch, named like those of VMs. The kernel removes it when the process exits.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { NAT_PHYSICAL_NETWORK } from '../hypervisor/ovn/public-rows.ts'
import { PUBLIC_BRIDGE } from './plan.ts'
import { SetupError, type Outcome } from './setup-step.ts'
import { findCommand, run, succeeds } from './shell.ts'

const NAME = 'berth-self-test'
const PORT_DEVICE = 'vnet-berth'
const GUEST_DEVICE = 'berth-test1'
const GUEST_MAC = '0a:be:27:00:00:01'
/** Link-local: no VM has it and no route leads there. */
const HOST_ADDRESS = '169.254.77.1'
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
    await clear()
    const guest = await startGuest()
    try {
      await plugIn(guest)
      await checkPorts(guest)
    } finally {
      await clear()
      await end(guest)
    }
    return outcome('ok', 'firewall self-test: denied ports and this host are closed')
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

const nb = (...commands: string[][]): Promise<string> =>
  run('ovn-nbctl', '--timeout=20', '--wait=hv', ...commands.flatMap((command, i) => (i === 0 ? command : ['--', ...command])))
const accept = (port: number): string[] => [
  'acl-add',
  NAME,
  'to-lport',
  '100',
  `outport == "${NAME}" && tcp.dst == ${port}`,
  'allow-related',
]

async function plugIn(guest: ChildProcess): Promise<void> {
  const pid = String(guest.pid)
  const inGuest = (...command: string[]): Promise<string> => run('nsenter', '-t', pid, '-n', ...command)
  await run('ip', 'link', 'add', PORT_DEVICE, 'type', 'veth', 'peer', 'name', GUEST_DEVICE, 'address', GUEST_MAC, 'netns', pid)
  await inGuest('ethtool', '-K', GUEST_DEVICE, 'tx', 'off')
  await inGuest('ip', 'addr', 'add', `${GUEST_ADDRESS}/30`, 'dev', GUEST_DEVICE)
  await inGuest('ip', 'link', 'set', GUEST_DEVICE, 'up')
  await run('ip', 'link', 'set', PORT_DEVICE, 'up')
  await run('ip', 'addr', 'replace', `${HOST_ADDRESS}/30`, 'dev', PUBLIC_BRIDGE)
  await nb(
    ['ls-add', NAME],
    ['lsp-add', NAME, `${NAME}-uplink`],
    ['lsp-set-type', `${NAME}-uplink`, 'localnet'],
    ['lsp-set-addresses', `${NAME}-uplink`, 'unknown'],
    ['lsp-set-options', `${NAME}-uplink`, `network_name=${NAT_PHYSICAL_NETWORK}`],
    ['lsp-add', NAME, NAME],
    ['lsp-set-addresses', NAME, `${GUEST_MAC} ${GUEST_ADDRESS}`],
    ['lsp-set-port-security', NAME, `${GUEST_MAC} ${GUEST_ADDRESS}`],
    ['acl-add', NAME, 'to-lport', '1', `outport == "${NAME}" && ip4`, 'drop'],
    ['acl-add', NAME, 'from-lport', '1', `inport == "${NAME}" && ip4`, 'allow-related'],
    accept(CONTROL),
  )
  await run(
    'ovs-vsctl',
    '--timeout=20',
    'add-port',
    'br-int',
    PORT_DEVICE,
    '--',
    'set',
    'Interface',
    PORT_DEVICE,
    `external_ids:iface-id=${NAME}`,
  )
  await run('ovn-nbctl', '--timeout=20', 'wait-until', 'Logical_Switch_Port', NAME, 'up=true')
}

async function checkPorts(guest: ChildProcess): Promise<void> {
  if (!(await isOpen(CONTROL, OPEN_TIMEOUT_MS))) throw notReached()
  const [closed, host] = await Promise.all([isOpen(SUBJECT, CLOSED_TIMEOUT_MS), reachesHost(guest)])
  if (closed)
    throw new SetupError('A port that a filter denies is open: firewalls of VMs would not work here', 'ovn-nbctl show; ovs-vsctl show')
  if (host)
    throw new SetupError('Guests reach services of this host', 'look for rules that accept them first: iptables -S INPUT, nft list ruleset')
  await nb(accept(SUBJECT))
  if (!(await isOpen(SUBJECT, OPEN_TIMEOUT_MS)))
    throw new SetupError('A port that a filter allows stays closed', 'ovn-nbctl show; ovs-vsctl show')
}

const CLOSED_TIMEOUT_MS = 800
const OPEN_TIMEOUT_MS = 5_000

const notReached = (): SetupError =>
  new SetupError(
    'A guest cannot be reached from this host although its filter allows it',
    `look for rules that drop packets from ${PUBLIC_BRIDGE}: iptables -S INPUT, nft list ruleset`,
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

async function reachesHost(guest: ChildProcess): Promise<boolean> {
  const server = createServer((socket) => socket.end()).listen(0, HOST_ADDRESS)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = `require('net').connect({ host: '${HOST_ADDRESS}', port: ${port}, timeout: ${CLOSED_TIMEOUT_MS} }, () => process.exit(0))
    .on('timeout', () => process.exit(1)).on('error', () => process.exit(1))`
  return succeeds('nsenter', '-t', String(guest.pid), '-n', process.execPath, '-e', ask).finally(() => server.close())
}

/** Also removes the remains of an interrupted test. */
async function clear(): Promise<void> {
  await succeeds('ovs-vsctl', '--timeout=20', '--if-exists', 'del-port', 'br-int', PORT_DEVICE)
  await succeeds('ovn-nbctl', '--timeout=20', '--wait=hv', '--if-exists', 'ls-del', NAME)
  await succeeds('ip', 'link', 'del', PORT_DEVICE)
  await succeeds('ip', 'addr', 'del', `${HOST_ADDRESS}/30`, 'dev', PUBLIC_BRIDGE)
  await succeeds('ip', 'neigh', 'del', GUEST_ADDRESS, 'dev', PUBLIC_BRIDGE)
}
