// Datagrams from the host to VMs, and when they begin to arrive: read from the counters of the VMs' interfaces, so that no guest has to answer.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Sandbox } from '../libvirt/test/sandboxed-libvirtd.ts'

export interface Probe {
  /** From now on it looks; datagrams go out all the time. */
  arm(): Promise<void>
  /** When they arrived at the last of the VMs, by the clock of process.hrtime. */
  opened(): Promise<bigint>
  close(): Promise<void>
}

const QUIET_MS = 100

/** Within the sandbox. A line `arm` begins a round; it answers `armed` once nothing arrives, because Open vSwitch goes by cached flows for a
 *  moment after a rule was taken back, and then the time when every interface has got some. Each round has a port of its own to send from: a
 *  connection that was open once may stay open. */
const SCRIPT = `
const [intervalMs, port, ...targets] = process.argv.slice(1)
const { readFileSync } = require('fs')
const { createSocket } = require('dgram')
let socket = createSocket('udp4')
const list = targets.map((each) => each.split('/')).map(([address, tap]) => ({ address, path: '/sys/class/net/' + tap + '/statistics/tx_packets' }))
const count = ({ path }) => Number(readFileSync(path, 'utf8'))
let waiting = []
let settling = null
setInterval(() => {
  for (const each of list) socket.send('x', Number(port), each.address)
  if (settling) {
    const counts = list.map(count)
    if (String(counts) !== String(settling.counts)) settling = { counts, since: Date.now() }
    if (Date.now() - settling.since < ${QUIET_MS}) return
    waiting = list.map((each, i) => ({ ...each, before: counts[i] }))
    settling = null
    return console.log('armed')
  }
  if (waiting.length === 0) return
  waiting = waiting.filter((each) => count(each) - each.before < 3)
  if (waiting.length === 0) console.log(String(process.hrtime.bigint()))
}, Number(intervalMs))
require('readline').createInterface({ input: process.stdin }).on('line', () => {
  socket.close()
  socket = createSocket('udp4')
  settling = { counts: [], since: Date.now() }
}).on('close', () => process.exit())`

/** More VMs, fewer datagrams for each: the probe must not be what is measured. */
const INTERVAL_MS = { few: 2, many: 10 }

export async function openProbe(sandbox: Sandbox, targets: { address: string; tap: string }[], port: number): Promise<Probe> {
  const intervalMs = targets.length > 4 ? INTERVAL_MS.many : INTERVAL_MS.few
  const [command, ...enter] = sandbox.enter
  const args = [String(intervalMs), String(port), ...targets.map(({ address, tap }) => `${address}/${tap}`)]
  const child = spawn(command!, [...enter, process.execPath, '-e', SCRIPT, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const line = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done) throw new Error('The probe has ended')
    return value as string
  }
  return {
    arm: async () => {
      child.stdin.write('arm\n')
      const said = await line()
      if (said !== 'armed') throw new Error(`The port was open: ${said}`)
    },
    opened: async () => BigInt(await line()),
    close: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      await exited
    },
  }
}
