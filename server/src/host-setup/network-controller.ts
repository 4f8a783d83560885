// A network controller of a region: the databases of OVN and northd, for hosts and a control plane on other machines. One machine, or several
// whose databases are a cluster (raft) and of whose northds one is active. Everything is TLS: the northbound database accepts the control plane
// and the members, the southbound one hosts too, each of which may change its own rows only.
import { connect, isIP, isIPv6 } from 'node:net'
import { join } from 'node:path'
import { bracketed, NORTHBOUND_PORT, remoteOf, SOUTHBOUND_PORT } from '../hypervisor/network-controller-address.ts'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { chainCommands, isInstalled, type Chain } from './iptables.ts'
import { answers, isEnabled, runScript, start } from './open-vswitch.ts'
import { missing, SetupError, satisfied, type ControllerBundle, type Step } from './setup-step.ts'
import { exists, readFileOrNull, run, succeeds, SYSTEM_PATH, writeFileAtomic } from './shell.ts'

export const OVN_CTL = '/usr/share/ovn/scripts/ovn-ctl'
const DAEMONS = ['ovn-ovsdb-server-nb', 'ovn-ovsdb-server-sb', 'ovn-northd']
const UNITS = ['ovn-central.service', ...DAEMONS.map((name) => `${name}.service`)]

const FOLDER = '/etc/ovn/berth'
const STATE = join(FOLDER, 'controller.json')
const CHAIN_SCRIPT = join(FOLDER, 'members.sh')
export const controllerFiles = {
  key: join(FOLDER, 'key.pem'),
  cert: join(FOLDER, 'cert.pem'),
  ca: join(FOLDER, 'ca.pem'),
  /** Of members, the control plane and hosts. */
  allCa: join(FOLDER, 'all-ca.pem'),
}

/** Of members only: their databases to each other, and to the southbound one without the limits of a chassis. */
const MEMBER_PORTS = { northbound: 6643, southbound: 6644, northd: 16_642 }

interface ControllerState {
  address: string
  members: string[]
  /** The member through which it has joined; null for the one that has made the cluster. */
  joined: string | null
}

export interface ControllerPlan {
  bundle: ControllerBundle | null
  state: ControllerState
  systemd: boolean
}

/** Null on a machine that is none. */
export async function loadController(): Promise<ControllerState | null> {
  const text = await readFileOrNull(STATE)
  return text === null ? null : (JSON.parse(text) as ControllerState)
}

export async function planController(bundle: ControllerBundle | null, systemd: boolean): Promise<ControllerPlan> {
  const known = await loadController()
  if (!bundle && !known)
    throw new SetupError(
      'This machine is no network controller yet',
      'issue its certificate on the control plane: npx berthd network-controller certificate --help',
    )
  const { address, members } = bundle ?? known!
  if (members.length > 1 && members.some((each) => isIP(each) === 0))
    throw new SetupError('Members of a cluster are told apart by their addresses, not by names', 'issue the certificates for IP addresses')
  const joined = known && known.members.length > 1 ? known.joined : await memberToJoin(address, members)
  return { bundle, state: { address, members, joined }, systemd }
}

/** A member without a database joins the others; the first one makes the cluster if there is none yet. */
async function memberToJoin(address: string, members: string[]): Promise<string | null> {
  const others = members.filter((each) => each !== address)
  if (others.length === 0) return null
  for (const other of others) if (await accepts(other, MEMBER_PORTS.northbound)) return other
  if (address === members[0]) return null
  throw new SetupError(`No other member answers: ${others.join(', ')}`, `prepare ${members[0]} first, which makes the cluster`)
}

const accepts = (address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port, timeout: 2_000 })
    const settle = (accepted: boolean): void => {
      socket.destroy()
      resolve(accepted)
    }
    socket
      .once('connect', () => settle(true))
      .once('timeout', () => settle(false))
      .once('error', () => settle(false))
  })

/** The certificate is installed before the daemons that use it; a renewed one is read by them at once. */
export const controllerCertificate: Step<ControllerPlan> = {
  name: 'certificate',
  async check({ bundle, state }) {
    const wanted = bundle ? Object.entries(contents(bundle)) : []
    for (const [path, text] of wanted) if ((await readFileOrNull(path)) !== text) return missing(`the certificate for ${state.address}`)
    return JSON.stringify(await loadController()) === JSON.stringify(state)
      ? satisfied(`certificate for ${state.address}`)
      : missing(`the settings in ${STATE}`)
  },
  async apply({ bundle, state }) {
    for (const [path, text] of bundle ? Object.entries(contents(bundle)) : [])
      await writeFileAtomic(path, text, path === controllerFiles.key ? 0o600 : 0o644)
    await writeFileAtomic(STATE, `${JSON.stringify(state)}\n`)
  },
}

/** The certificate before its key: OVN looks at the certificate only when the key has changed, and once then. */
const contents = ({ ca, chassisCa, cert, key }: ControllerBundle): Record<string, string> => ({
  [controllerFiles.cert]: cert,
  [controllerFiles.key]: key,
  [controllerFiles.ca]: ca,
  [controllerFiles.allCa]: `${ca}${chassisCa}`,
})

/** Any host could take part in the cluster otherwise: the databases accept its certificate on all their ports. */
function chains({ members }: ControllerState): Chain[] {
  if (members.length < 2) return []
  const ports = Object.values(MEMBER_PORTS)
  const families = [
    { tool: 'iptables', bits: 32, own: members.filter((each) => !isIPv6(each)) },
    { tool: 'ip6tables', bits: 128, own: members.filter((each) => isIPv6(each)) },
  ] as const
  return families.map(({ tool, bits, own }) => ({
    tool,
    table: 'filter',
    parent: 'INPUT',
    name: 'BERTH-MEMBERS',
    rules: ports.flatMap((port) => [
      ...own.map((address) => `-s ${address}/${bits} -p tcp -m tcp --dport ${port} -j RETURN`),
      `-p tcp -m tcp --dport ${port} -j DROP`,
    ]),
    first: true,
  }))
}

const chainScript = (state: ControllerState): string =>
  ['#!/bin/sh -e', '# Written by berthd network-controller prepare.', `PATH=${SYSTEM_PATH}`, ...chains(state).map(chainCommands), ''].join(
    '\n',
  )

export const memberPorts: Step<ControllerPlan> = {
  name: 'member-ports',
  async check({ state }) {
    for (const chain of chains(state)) if (!(await isInstalled(chain))) return missing(`the chain ${chain.name} of ${chain.tool}`)
    return satisfied(state.members.length < 2 ? 'one network controller' : `only ${state.members.join(', ')} reach the ports of members`)
  },
  apply: async ({ state }) => void (await run('sh', '-ec', chainScript(state))),
}

export const controllerDaemons: Step<ControllerPlan> = {
  name: 'network-controller',
  async check(plan) {
    const problem = await findProblem(plan)
    return problem ? missing(problem) : satisfied(`OVN: network controller at ${plan.state.address}`)
  },
  async apply(plan) {
    if (plan.state.joined !== null) await requireNoNetworks()
    if (plan.systemd) await writeUnits(plan.state)
    if (!(await runWithOptions(plan.state))) await stopCentral(plan)
    await startCentral(plan)
    await untilReady(plan)
  },
}

/** Databases and northd. On a machine that is no network controller they serve its own chassis alone. */
export async function startCentral(plan: { systemd: boolean }): Promise<void> {
  const state = await loadController()
  if (state && !plan.systemd) await run('sh', '-ec', chainScript(state))
  await start(plan, UNITS, OVN_CTL, 'start_northd', ...(state ? options(state) : []))
}

export async function stopCentral({ systemd }: { systemd: boolean }): Promise<void> {
  if (systemd) await run('systemctl', '--quiet', 'stop', ...UNITS)
  else await runScript(OVN_CTL, 'stop_northd')
}

export async function disableCentral(plan: { systemd: boolean }): Promise<void> {
  await stopCentral(plan)
  if (plan.systemd) await run('systemctl', '--quiet', 'disable', UNITS[0]!)
}

export const isCentralEnabled = (): Promise<boolean> => isEnabled(UNITS[0]!)

/** Of ovn-ctl. */
function options({ address, members, joined }: ControllerState): string[] {
  const all = ['nb', 'sb'].flatMap((db) => [
    `--ovn-${db}-db-ssl-key=${controllerFiles.key}`,
    `--ovn-${db}-db-ssl-cert=${controllerFiles.cert}`,
    `--ovn-${db}-db-ssl-ca-cert=${db === 'nb' ? controllerFiles.ca : controllerFiles.allCa}`,
  ])
  if (members.length < 2) return all
  const cluster = ['nb', 'sb'].flatMap((db) => [
    `--db-${db}-cluster-local-addr=${bracketed(address)}`,
    `--db-${db}-cluster-local-proto=ssl`,
    `--db-${db}-election-timer=${ELECTION_MS}`,
    ...(joined === null ? [] : [`--db-${db}-cluster-remote-addr=${bracketed(joined)}`, `--db-${db}-cluster-remote-proto=ssl`]),
  ])
  const northd = [
    `--ovn-northd-nb-db=${remoteOf(members, NORTHBOUND_PORT)}`,
    `--ovn-northd-sb-db=${remoteOf(members, MEMBER_PORTS.northd)}`,
    `--ovn-northd-ssl-key=${controllerFiles.key}`,
    `--ovn-northd-ssl-cert=${controllerFiles.cert}`,
    `--ovn-northd-ssl-ca-cert=${controllerFiles.ca}`,
  ]
  return [...all, ...cluster, ...northd]
}

/** OVN's default of one second is too short for a machine under load: its members would elect a leader again and again. */
const ELECTION_MS = 4_000

async function findProblem({ state, systemd }: ControllerPlan): Promise<string | null> {
  if (!(await runWithOptions(state))) return 'the databases of OVN do not run with TLS'
  if (!(await isNorthdRunning(state))) return 'northd of OVN does not run'
  if (systemd && !(await unitsWritten(state))) return 'the units of OVN do not have its options'
  if (systemd && !(await isCentralEnabled())) return 'the units of OVN are not enabled'
  for (const { tool, targets } of listeners(state)) {
    const connections = await run(tool, '--timeout=10', '--no-leader-only', 'get-connection').catch(() => '')
    const present = connections.split('\n').filter((line) => line !== '')
    if (targets.toSorted().join() !== present.toSorted().join())
      return `${tool === 'ovn-nbctl' ? 'the northbound' : 'the southbound'} database does not listen`
  }
  return null
}

/** `standby` while the northd of another member is active. */
export async function isNorthdRunning(state: ControllerState | null): Promise<boolean> {
  const status = await answers('ovn-appctl', 'ovn-northd', 'status')
  return status === 'Status: active' || (status === 'Status: standby' && (state?.members.length ?? 1) > 1)
}

/** As they are listed. The tables are those of all members, which therefore listen on all their addresses. */
function listeners({ address, members }: ControllerState): { tool: 'ovn-nbctl' | 'ovn-sbctl'; targets: string[]; roles: string[] }[] {
  const on = (port: number): string => `pssl:${port}${isIPv6(address) ? ':[::]' : ''}`
  const southbound = on(SOUTHBOUND_PORT)
  const northd = on(MEMBER_PORTS.northd)
  const clustered = members.length > 1
  return [
    { tool: 'ovn-nbctl', targets: [on(NORTHBOUND_PORT)], roles: [on(NORTHBOUND_PORT)] },
    {
      tool: 'ovn-sbctl',
      targets: [`read-write role="ovn-controller" ${southbound}`, ...(clustered ? [`read-write role="" ${northd}`] : [])],
      roles: ['role=ovn-controller', southbound, ...(clustered ? ['role=', northd] : [])],
    },
  ]
}

const READY_MS = 60_000

async function untilReady(plan: ControllerPlan): Promise<void> {
  const elapsed = stopwatch()
  for (;;) {
    // Followers pass the change on to the leader.
    for (const { tool, roles } of listeners(plan.state))
      if (plan.state.joined === null) await succeeds(tool, '--timeout=10', '--no-leader-only', 'set-connection', ...roles)
    const problem = await findProblem(plan)
    if (!problem) return
    if (elapsed() > READY_MS) throw new SetupError(`OVN was started, but ${problem}`, 'check its logs in /var/log/ovn')
    await sleep(200)
  }
}

async function runWithOptions(state: ControllerState): Promise<boolean> {
  for (const [name, ca] of [
    ['ovnnb_db', controllerFiles.ca],
    ['ovnsb_db', controllerFiles.allCa],
  ] as const) {
    const pid = (await readFileOrNull(`/run/ovn/${name}.pid`))?.trim()
    const args = (pid && (await readFileOrNull(`/proc/${pid}/cmdline`))) || ''
    if (!args.split('\0').includes(`--ca-cert=${ca}`)) return false
    const status = state.members.length < 2 ? '' : await answers('ovn-appctl', `/run/ovn/${name}.ctl`, ...clusterStatus(name))
    if (status === null || (state.members.length > 1 && !status.includes('Status: cluster member'))) return false
  }
  return true
}

const clusterStatus = (name: string): [string, string] => ['cluster/status', name === 'ovnnb_db' ? 'OVN_Northbound' : 'OVN_Southbound']

/** A member that joins gets the databases of the others instead of its own. */
async function requireNoNetworks(): Promise<void> {
  if (!(await exists('/run/ovn/ovnnb_db.sock')) || (await isClustered())) return
  const switches = await run('ovn-nbctl', '--timeout=10', 'ls-list').catch(() => '')
  if (switches.trim() === '') return
  throw new SetupError('This machine has networks of its own, which it would lose', 'make it the first of --members')
}

const isClustered = (): Promise<boolean> => succeeds('ovsdb-tool', 'db-is-clustered', '/var/lib/ovn/ovnnb_db.db')

const unitFile = (name: string): string => `/etc/systemd/system/${name}.service.d/berth.conf`

const unitText = (state: ControllerState): string =>
  [
    '# Written by berthd network-controller prepare.',
    '[Service]',
    `Environment="OVN_CTL_OPTS=${options(state).join(' ')}"`,
    `ExecStartPre=${CHAIN_SCRIPT}`,
    '',
  ].join('\n')

async function unitsWritten(state: ControllerState): Promise<boolean> {
  if ((await readFileOrNull(CHAIN_SCRIPT)) !== chainScript(state)) return false
  const texts = await Promise.all(DAEMONS.map((name) => readFileOrNull(unitFile(name))))
  return texts.every((text) => text === unitText(state))
}

async function writeUnits(state: ControllerState): Promise<void> {
  await writeFileAtomic(CHAIN_SCRIPT, chainScript(state), 0o755)
  for (const name of DAEMONS) await writeFileAtomic(unitFile(name), unitText(state))
  await run('systemctl', '--quiet', 'daemon-reload')
}
