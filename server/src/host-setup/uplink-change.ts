// A change of the network card that this machine is reached by. A process of its own makes it and takes it back unless it is confirmed in
// time: an operator whose connection, terminal or `host prepare` dies meanwhile still reaches the machine. After a power loss the boot unit takes
// it back.
import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'
import { rename, rm } from 'node:fs/promises'
import { sleep, stopwatch } from '../kernel/clock.ts'
import { SetupError, type Uplink } from './setup-step.ts'
import { BERTH_FOLDER, exists, findCommand, readFileOrNull, run, succeeds, SYSTEM_PATH, writeFileAtomic } from './shell.ts'
import { gatewaysIn, plugInCommands } from './uplink-move.ts'
import { UPLINK_SCRIPT } from './uplink-plan.ts'

/** The script of the new uplink: the guard begins by renaming it to PENDING. It is confirmed by renaming it to UPLINK_SCRIPT, or taken back by
 *  renaming it to UNDOING: only one of both can happen. */
const WANTED = join(BERTH_FOLDER, 'uplink.wanted')
const PENDING = join(BERTH_FOLDER, 'uplink.pending')
const UNDOING = join(BERTH_FOLDER, 'uplink.undoing')
const FORWARD = join(BERTH_FOLDER, 'uplink-forward.sh')
const BACK = join(BERTH_FOLDER, 'uplink-back.sh')
const GUARD = join(BERTH_FOLDER, 'uplink-guard.sh')
/** Says that the change was made. */
const MADE = join(BERTH_FOLDER, 'uplink.made')
/** Asks for the change to be taken back at once. */
const REFUSED = join(BERTH_FOLDER, 'uplink.refused')
const LOG = join(BERTH_FOLDER, 'uplink.log')

/** Longer than ANSWER_MS. */
const CONFIRM_SECONDS = 30
/** Longer than the commands of a change take if each of them runs into its time limit. */
const END_MS = 150_000
const ANSWER_MS = 12_000

const HEAD = `PATH=${SYSTEM_PATH}\nexport LC_ALL=C\n`

export const uplinkScript = (uplink: Uplink | null): string =>
  `#!/bin/sh -e\n# ${JSON.stringify(uplink)}\n${HEAD}${uplink ? plugInCommands(uplink) : ''}`

const guard = `#!/bin/sh
${HEAD}trap '' HUP INT TERM
exec >${LOG} 2>&1
mv ${WANTED} ${PENDING} || exit 1
if sh -ex ${FORWARD}; then
  touch ${MADE}
  waited=0
  while [ -e ${PENDING} ] && [ ! -e ${REFUSED} ] && [ $waited -lt ${CONFIRM_SECONDS * 5} ]; do sleep 0.2; waited=$((waited + 1)); done
fi
if mv ${PENDING} ${UNDOING}; then
  sh -x ${BACK}
  rm -f ${UNDOING}
fi
`

/** For the boot unit: a change that a power loss interrupted is taken back. */
export const recoverCommand = `for each in ${PENDING} ${UNDOING}; do if [ -e $each ]; then sh ${BACK}; rm -f $each; fi; done`

export interface UplinkChange {
  target: Uplink | null
  /** For `sh -e`. */
  forward: string
  /** For `sh`: takes back whatever of `forward` was done. */
  back: string
  /** The card or bridge that has the addresses now, and the one that will have them. */
  from: string
  to: string
  systemd: boolean
}

export async function changeUplink({ target, forward, back, from, to, systemd }: UplinkChange, peers: readonly string[]): Promise<void> {
  await Promise.all([MADE, REFUSED, UNDOING].map((file) => rm(file, { force: true })))
  await writeFileAtomic(FORWARD, `${HEAD}${forward}`)
  await writeFileAtomic(BACK, `${HEAD}${back}`)
  await writeFileAtomic(GUARD, guard, 0o755)
  await writeFileAtomic(WANTED, uplinkScript(target), 0o755)
  await startGuard(systemd)
  await until(async () => !(await exists(WANTED)) && ((await exists(MADE)) || !(await exists(PENDING))))
  const silent = (await exists(MADE)) ? await silentPeers(to, peers) : null
  const confirmed =
    silent?.length === 0 &&
    (await rename(PENDING, UPLINK_SCRIPT).then(
      () => true,
      () => false,
    ))
  if (confirmed) return
  if (await exists(PENDING)) await writeFileAtomic(REFUSED, '')
  await settleUplink()
  if (silent && silent.length > 0)
    throw new SetupError(
      `${silent.join(', ')} did not answer through ${to}, so everything is as it was, on ${from}`,
      `look for what keeps ${to} from the network: port security of the switch, firewall rules, arptables`,
    )
  throw new SetupError(`The uplink could not be changed, so everything is as it was, on ${from}: ${await lastWords()}`, `read ${LOG}`)
}

/** Ends the change of another process, or of one that was killed: both are taken back unless they are confirmed. */
export async function settleUplink(): Promise<void> {
  const isOpen = async (): Promise<boolean> => (await exists(PENDING)) || (await exists(UNDOING))
  if (!(await isOpen()) || (await until(async () => !(await isOpen())))) return
  await run('sh', '-c', `${HEAD}${recoverCommand}`)
}

async function until(condition: () => Promise<boolean>): Promise<boolean> {
  const elapsed = stopwatch()
  while (elapsed() < END_MS) {
    if (await condition()) return true
    await sleep(50)
  }
  return false
}

/** Not in our session, nor in the unit of our terminal: both may end. */
async function startGuard(systemd: boolean): Promise<void> {
  if (systemd) return void (await run('systemd-run', '--quiet', '--collect', '--unit=berth-uplink-change', '/bin/sh', GUARD))
  spawn((await findCommand('setsid'))!, ['sh', GUARD], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

const lastWords = async (): Promise<string> => {
  const lines = ((await readFileOrNull(LOG)) ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('+'))
  return lines[0] ?? 'no reason was given'
}

interface Neighbour {
  dst: string
  state: string[]
}

/** The next hops that answer on the link, or the neighbours that do where there is none: they must answer after a change too. */
export async function findPeers(uplink: Uplink, device: string): Promise<string[]> {
  const gateways = gatewaysIn(uplink)
  if (gateways.length > 0) {
    const silent = await silentPeers(device, gateways)
    if (silent.length === 0) return gateways
    throw new SetupError(
      `The gateway ${silent.join(', ')} does not answer through ${device}, so a change could not be checked`,
      'connect the network card, or remove the route: ip route',
    )
  }
  const known = (await listNeighbours(device)).filter(({ state }) => !state.some((each) => each === 'FAILED' || each === 'INCOMPLETE'))
  const peers = known.map(({ dst }) => dst).slice(0, 5)
  const silent = await silentPeers(device, peers, 2_000)
  return peers.filter((peer) => !silent.includes(peer))
}

const listNeighbours = async (device: string, ...to: string[]): Promise<Neighbour[]> => {
  const all = await Promise.all(
    ['-4', '-6'].map((family) => run('ip', '-json', family, 'neigh', 'show', ...to, 'dev', device).catch(() => '')),
  )
  return all.flatMap((text) => JSON.parse(text || '[]') as Neighbour[])
}

/** Those whose link-layer address the kernel cannot find again. */
async function silentPeers(device: string, peers: readonly string[], withinMs = ANSWER_MS): Promise<string[]> {
  const answers = await Promise.all(peers.map(async (peer) => ({ peer, does: await answersOn(device, peer, withinMs) })))
  return answers.filter(({ does }) => !does).map(({ peer }) => peer)
}

async function answersOn(device: string, peer: string, withinMs: number): Promise<boolean> {
  const elapsed = stopwatch()
  const socket = createSocket(isIPv6(peer) ? 'udp6' : 'udp4')
  socket.on('error', () => {})
  try {
    await succeeds('ip', 'neigh', 'del', peer, 'dev', device)
    while (elapsed() < withinMs) {
      // Any packet makes the kernel ask for the address; nobody has to take it.
      socket.send('', 9, peer.startsWith('fe80:') ? `${peer}%${device}` : peer, () => {})
      await sleep(100)
      const found = await listNeighbours(device, 'to', peer)
      if (found.some(({ state }) => state.some((each) => each === 'REACHABLE' || each === 'PERMANENT'))) return true
    }
    return false
  } finally {
    socket.close()
  }
}
