// What Linux says of the processor time that this process and PostgreSQL have taken, in milliseconds.
import { readFileSync } from 'node:fs'
import { childrenOf, cpuOf } from './vms-process.ts'

/** Of Linux for programs, on every architecture. */
const TICK_MS = 10

export interface CpuMeter {
  spent(): number
}

/** `postmaster`: its living children are counted to the microsecond, those that have ended by the tick. */
export function openCpuMeter(postmaster: number): CpuMeter {
  const children = (): number[] => {
    const list = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim()
    return list === '' ? childrenOf(postmaster) : list.split(' ').map(Number)
  }
  return {
    spent() {
      const { user, system } = process.cpuUsage()
      const stat = readFileSync(`/proc/${postmaster}/stat`, 'utf8').split(') ')[1]!.split(' ')
      const ended = (Number(stat[13]) + Number(stat[14])) * TICK_MS
      return (user + system + [postmaster, ...children()].reduce((sum, pid) => sum + cpuOf(pid), 0)) / 1000 + ended
    },
  }
}
