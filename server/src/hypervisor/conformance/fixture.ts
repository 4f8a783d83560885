// What a driver's tests supply, and helpers shared by all contracts.
import { expect } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import {
  isDriverError,
  type Driver,
  type DriverErrorKind,
  type Filter,
  type MachineSpec,
  type NetworkSpec,
  type NicSpec,
} from '../driver.ts'

export interface Rig {
  driver: Driver
  /** A second driver of the same host, as in another process. */
  other: Driver
  /** A new VM at every call: ids, MAC and public address; its template has an agent. */
  spec(changes?: Partial<MachineSpec>): MachineSpec
  /** The same without an agent. */
  agentless(): MachineSpec
  /** Free on the host each time. */
  range(): { cidr: string; gateway: string }
  nicIn(network: NetworkSpec): NicSpec
  guest: {
    write(vmId: string, text: string): Promise<void>
    /** What was last written to the disk; null on a fresh one. */
    read(vmId: string): Promise<string | null>
    passwordHash(vmId: string): Promise<string | null>
    powerOff(vmId: string): Promise<void>
    crash(vmId: string): Promise<void>
    send(vmId: string, mac: string, bytes: number): Promise<void>
  }
  /** Requests a stop that fails after the guest was signalled; the guest stays on. */
  giveUpStop(vmId: string): Promise<void>
  /** Power loss: all machines are off, and the host is up again. */
  losePower(): Promise<void>
  /** Timeout of every call. */
  patienceMs: number
  /** After each test: cleans up the host. */
  tidy?(): Promise<void>
  close(): Promise<void>
}

export type ConformanceContract = (rig: () => Rig) => void

export const OPEN: Filter = { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' }
export const TEMPLATE = { from: 'template' } as const

export const soon = (rig: Rig): AbortSignal => AbortSignal.timeout(rig.patienceMs)

/** The steps of a create, in their order. */
export const createSteps = (rig: Rig, spec: MachineSpec): (() => Promise<unknown>)[] => [
  () => rig.driver.ensureFilter(spec.vmId, OPEN, soon(rig)),
  () => rig.driver.ensureDisk(spec, TEMPLATE, soon(rig)),
  () => rig.driver.ensureRunning(spec, soon(rig)),
  () => rig.driver.ensureReady(spec.vmId, { timeoutMs: rig.patienceMs }, soon(rig)),
]

export async function create(rig: Rig, spec: MachineSpec = rig.spec()): Promise<MachineSpec> {
  for (const step of createSteps(rig, spec)) await step()
  return spec
}

export const stop = (rig: Rig, { vmId }: MachineSpec): Promise<unknown> =>
  rig.driver.ensureStopped(vmId, { graceMs: rig.patienceMs }, soon(rig))

/** Stops it, and starts it again as `spec` says. */
export async function changeTo(rig: Rig, spec: MachineSpec): Promise<void> {
  await stop(rig, spec)
  await rig.driver.ensureRunning(spec, soon(rig))
  await rig.driver.ensureReady(spec.vmId, { timeoutMs: rig.patienceMs }, soon(rig))
}

export const next = (spec: MachineSpec): MachineSpec => ({ ...spec, generation: spec.generation + 1 })

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function volumesOf(rig: Rig, vmId: string) {
  return (await collect(rig.driver.listVolumes(soon(rig)))).filter((volume) => volume.vmId === vmId)
}

export async function expectKind(call: Promise<unknown>, kind: DriverErrorKind): Promise<void> {
  const error = await call.then(
    () => new Error(`it worked, although ${kind} was due`),
    (thrown: unknown) => thrown,
  )
  expect(isDriverError(error) ? error.kind : error).toBe(kind)
}

/** Nothing on the host carries the VM's id any more. */
export async function expectNothingLeft(rig: Rig, vmId: string): Promise<void> {
  expect(await rig.driver.findMachine(vmId, soon(rig))).toBeNull()
  const machines = await collect(rig.driver.listMachines(soon(rig)))
  const filters = await collect(rig.driver.listFilters(soon(rig)))
  expect([...machines, ...filters].filter((each) => each.vmId === vmId)).toEqual([])
  expect(await volumesOf(rig, vmId)).toEqual([])
}

export const unknownId = (): string => newId()
