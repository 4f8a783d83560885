// What a driver's tests supply, and helpers shared by all contracts.
import { expect } from 'vitest'
import { newId } from '../../kernel/ids.ts'
import {
  isDriverError,
  type ComputeSize,
  type Driver,
  type DriverErrorKind,
  type Filter,
  type IsoRef,
  type MachineSpec,
  type NicSpec,
  type VolumeSpec,
} from '../driver.ts'
import type { NetworkController, NetworkSpec } from '../network-controller.ts'

export interface DriverFixture {
  driver: Driver
  /** A second driver of the same host, as in another process. */
  other: Driver
  /** Of the host's region. */
  networks: NetworkController
  /** What the host calls itself. */
  host: string
  /** A new VM at every call: ids, MAC and public address; its template has an agent. */
  spec(changes?: Partial<MachineSpec>): MachineSpec
  /** The same without an agent. */
  agentless(): MachineSpec
  nicIn(network: NetworkSpec): NicSpec
  /** A new one at every call, of 1 GiB, where the fixture's disks are. */
  volume(): VolumeSpec
  /** A new one at every call, with no system on it. */
  iso(): Promise<IsoRef>
  guest: {
    write(vmId: string, text: string): Promise<void>
    /** What was last written to the disk; null on a fresh one. */
    read(vmId: string): Promise<string | null>
    /** The same of the machine's own disk, in a rescue system. */
    readOwnDisk(vmId: string): Promise<string | null>
    passwordHash(vmId: string): Promise<string | null>
    /** On any of its interfaces. */
    hasAddress(vmId: string, address: string): Promise<boolean>
    /** Those with a gateway, as `range via gateway`, but the default one. */
    routes(vmId: string): Promise<string[]>
    /** As the guest sees it, which is somewhat less RAM. */
    size(vmId: string): Promise<ComputeSize>
    /** Another one after each boot. */
    bootId(vmId: string): Promise<string>
    /** The CPUs of the host that its vCPUs may run on, such as `0-3`. */
    affinity(vmId: string): Promise<string>
    writeVolume(vmId: string, volumeId: string, text: string): Promise<void>
    /** What was last written to it; empty before that. */
    readVolume(vmId: string, volumeId: string): Promise<string>
    /** As the guest sees it; null where it does not have it. */
    volumeBytes(vmId: string, volumeId: string): Promise<number | null>
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

export type ConformanceContract = (fixture: () => DriverFixture) => void

export const OPEN: Filter = { rules: [], defaultInbound: 'ACCEPT', defaultOutbound: 'ACCEPT' }
export const TEMPLATE = { from: 'template' } as const

export const soon = (fixture: DriverFixture): AbortSignal => AbortSignal.timeout(fixture.patienceMs)

export async function ensurePorts({ networks, host, patienceMs }: DriverFixture, { vmId, nics }: MachineSpec): Promise<void> {
  for (const { mac, networkId, ipv4, kind } of nics) {
    const filter = kind === 'public' ? OPEN : null
    await networks.ensurePort(
      { vmId, mac, networkId, addresses: [ipv4!.address], ranges: [], host, limitMbps: null, filter },
      AbortSignal.timeout(patienceMs),
    )
  }
}

/** The steps of a create, in their order. */
export const createSteps = (fixture: DriverFixture, spec: MachineSpec): (() => Promise<unknown>)[] => [
  () => ensurePorts(fixture, spec),
  () => fixture.driver.ensureDisk(spec, TEMPLATE, soon(fixture)),
  () => fixture.driver.ensureRunning(spec, soon(fixture)),
  () => fixture.driver.ensureReady(spec.vmId, { timeoutMs: fixture.patienceMs }, soon(fixture)),
]

export async function create(fixture: DriverFixture, spec: MachineSpec = fixture.spec()): Promise<MachineSpec> {
  for (const step of createSteps(fixture, spec)) await step()
  return spec
}

export const stop = (fixture: DriverFixture, { vmId }: MachineSpec): Promise<unknown> =>
  fixture.driver.ensureStopped(vmId, { graceMs: fixture.patienceMs }, soon(fixture))

/** Stops it, and starts it again as `spec` says. */
export async function changeTo(fixture: DriverFixture, spec: MachineSpec): Promise<void> {
  await stop(fixture, spec)
  await fixture.driver.ensureRunning(spec, soon(fixture))
  await fixture.driver.ensureReady(spec.vmId, { timeoutMs: fixture.patienceMs }, soon(fixture))
}

export const next = <T extends { generation: number }>(spec: T): T => ({ ...spec, generation: spec.generation + 1 })

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export async function volumesOf(fixture: DriverFixture, vmId: string) {
  return (await collect(fixture.driver.listVolumes(soon(fixture)))).filter((volume) => volume.vmId === vmId)
}

export async function expectKind(call: Promise<unknown>, kind: DriverErrorKind): Promise<void> {
  const error = await call.then(
    () => new Error(`it worked, although ${kind} was due`),
    (thrown: unknown) => thrown,
  )
  expect(isDriverError(error) ? error.kind : error).toBe(kind)
}

/** Nothing on the host carries the VM's id any more. */
export async function expectNothingLeft(fixture: DriverFixture, vmId: string): Promise<void> {
  expect(await fixture.driver.findMachine(vmId, soon(fixture))).toBeNull()
  const machines = await collect(fixture.driver.listMachines(soon(fixture)))
  expect(machines.filter((each) => each.vmId === vmId)).toEqual([])
  expect(await volumesOf(fixture, vmId)).toEqual([])
}

export const unknownId = (): string => newId()
