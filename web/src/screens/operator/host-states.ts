import type { Host } from '../../api/operator.ts'
import type { Tone } from '../../ui/Status.tsx'

export const HOST_TONES: Record<Host['state'], Tone> = {
  ready: 'good',
  maintenance: 'held',
  unreachable: 'bad',
  lost: 'bad',
  fenced: 'bad',
  destroyed: 'bad',
  unseen: 'idle',
}

/** What to do is done by commands. */
export const RUNBOOKS: Partial<Record<Host['state'], string>> = {
  unreachable: '/docs/operate/runbooks#host-unreachable',
  lost: '/docs/operate/runbooks#a-host-is-lost-its-vms-are-on-ceph',
  fenced: '/docs/operate/runbooks#a-host-is-lost-its-vms-are-on-ceph',
  destroyed: '/docs/operate/runbooks#a-host-is-lost',
}

const part = ({ used, total }: { used: number; total: number }): number => (total > 0 ? used / total : 0)

/** Of what is most used. */
const loadOf = ({ vcpu, ramMiB, diskGiB }: Pick<Host, 'vcpu' | 'ramMiB' | 'diskGiB'>): number =>
  Math.max(part(vcpu), part(ramMiB), part(diskGiB))

const RANK: Record<Tone, number> = { bad: 0, held: 1, busy: 1, idle: 2, good: 3 }

/** Problems first, then the fullest. */
export const byUrgency = (one: Host, other: Host): number =>
  RANK[HOST_TONES[one.state]] - RANK[HOST_TONES[other.state]] || loadOf(other) - loadOf(one) || one.name.localeCompare(other.name)
