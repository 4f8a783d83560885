// Injects faults into the host calls that the requested action will make.
import type { SimulatedControl } from '../../src/hypervisor/simulated/control.ts'
import type { FaultKind, Verb } from '../../src/hypervisor/simulated/host.ts'
import type { Fixture } from './fixture.ts'

/** A worker retries five times, so five failures in a row are permanent. */
const KINDS: [FaultKind, number][] = [
  ['transient', 1],
  ['transient', 5],
  ['permanent', 1],
  ['permanent', 1],
  ['guest_failed', 1],
  ['halfway', 1],
  ['halfway', 5],
  ['lost_answer', 1],
  ['lost_answer', 5],
]

const OF_NETWORKS = ['ensurePublicNetwork', 'ensureNetwork', 'ensureNoNetwork', 'ensurePort', 'ensureNoPort', 'listNetworks', 'listPorts']

/** On the host, or on the network controller of the region when it is one of its calls. */
export async function plant({ random, trace, network }: Fixture, host: SimulatedControl, verbs: (Verb | '*')[]): Promise<void> {
  const [kind, times] = random.pick(KINDS)!
  const fault = { verb: random.pick(verbs)!, kind, atCall: random.pick([1, 1, 1, 2, 3])!, times }
  await (OF_NETWORKS.includes(fault.verb) ? network : host).faults.plant(fault)
  trace.push(`  ${Object.values(fault).join(' ')}`)
}

export async function mayFail(fixture: Fixture, vmId: string, verbs: Verb[]): Promise<void> {
  const control = await fixture.controlAt(vmId)
  if (control && fixture.random.chance(0.4)) await plant(fixture, control, verbs)
}

/** Mostly a worker runs it and retries after a pause; sometimes it crashes. */
export async function mayFollow(fixture: Fixture): Promise<void> {
  const { random, clock, trace } = fixture
  for (let times = random.int(0, 4); times > 0; times--) {
    const done = await fixture.work(random.chance(0.07) ? random.int(1, 12) : Infinity)
    trace.push(`  worked on ${done}`)
    if (done === 'nothing') return
    clock.advance(`${random.int(1, 8)}s`)
  }
}
