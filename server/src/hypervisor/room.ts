// Room to grow: how large a machine can get while it runs. It is part of its hardware, so it is decided when the machine is started, by its size then.
import type { ComputeSize } from './spec.ts'

/** So much of each part as the machine has. */
const TIMES = 4
/** The largest that customers can have. */
const MOST: ComputeSize = { vcpu: 64, ramMiB: 262_144 }
/** Linux sets 64 MiB aside as soon as memory may be added above 4 GiB, which is where it is added. A machine with as much as this has memory there in any case. */
const LEAST_RAM_MIB = 4096

/** What guests online at a time. RAM grows by whole blocks. */
export const RAM_BLOCK_MIB = 128

/** Each growth of RAM adds one DIMM, which takes one of them until the next start. */
export const RAM_SLOTS = 16

const within = (has: number, most: number): number => Math.max(has, Math.min(TIMES * has, most))

export const roomFor = ({ vcpu, ramMiB }: ComputeSize): ComputeSize => ({
  vcpu: within(vcpu, MOST.vcpu),
  ramMiB: ramMiB < LEAST_RAM_MIB ? ramMiB : within(ramMiB, MOST.ramMiB),
})

/** Whether a machine of this size becomes the other one without a restart. */
export const canGrowTo = (has: ComputeSize, wanted: ComputeSize, room: ComputeSize): boolean =>
  wanted.vcpu >= has.vcpu &&
  wanted.ramMiB >= has.ramMiB &&
  wanted.vcpu <= room.vcpu &&
  wanted.ramMiB <= room.ramMiB &&
  (wanted.ramMiB - has.ramMiB) % RAM_BLOCK_MIB === 0
