// What runs the VMs of this machine. A host is real or simulated for as long as it has anything: the rows of one are never handed to the
// other, because a VM that is written down would then be looked for where it cannot be.
import type { Config } from '../config.ts'

export interface LocalHost {
  driver: 'libvirt' | 'simulated'
  /** It has VMs or private networks. */
  inUse: boolean
}

export interface Decision {
  kind: 'libvirt' | 'simulated'
  /** The host of the other kind is empty, and gives way. */
  replace: boolean
  /** Why VMs are not real, where they could have been. */
  why: string | null
  /** What to do for real ones. */
  fix: string | null
}

const ANOTHER = 'set BERTH_DATA_DIR to another folder to begin anew'

/** `cannot`: why real VMs cannot be had on this machine, or null. */
export function decideHypervisor(setting: Config['hypervisor'], local: LocalHost | null, cannot: Obstacle | null): Decision {
  const real: Decision = { kind: 'libvirt', replace: local?.driver === 'simulated', why: null, fix: null }
  const simulated: Decision = { kind: 'simulated', replace: local?.driver === 'libvirt', why: null, fix: null }
  if (setting === 'simulated') {
    if (local?.driver === 'libvirt' && local.inUse)
      throw new Error(`The VMs of this data are real, and BERTH_HYPERVISOR=simulated would lose sight of them. Unset it, or ${ANOTHER}`)
    return simulated
  }
  if (local?.driver === 'simulated' && local.inUse) {
    if (setting === 'libvirt')
      throw new Error(
        `The VMs of this data are simulated, and libvirt does not have them. Delete them, set BERTH_HYPERVISOR=simulated, or ${ANOTHER}`,
      )
    return { ...simulated, why: 'this data began with simulated VMs', fix: `for real ones, ${ANOTHER}` }
  }
  if (cannot && (setting === 'libvirt' || local?.driver === 'libvirt'))
    throw new Error(`VMs cannot run here: ${cannot.why}. To mend it: ${cannot.fix}`)
  return cannot ? { ...simulated, ...cannot } : real
}

export interface Obstacle {
  why: string
  fix: string
}
