// Slices of load, in turns, with the processor time they took.
import type { Postgres } from './vms-database.ts'
import type { Load, Loaded } from './vms-load.ts'
import { cpuWatch, startProgram, type Program } from './vms-process.ts'

const ROUNDS = 9
export const SLICE_MS = 700

export interface Measured extends Loaded {
  /** Of Node and PostgreSQL, microseconds a request. */
  cpu: number
}

export type Slice = () => Promise<Measured>

/** A server that answers its parent with its port. */
export interface Server {
  pid: number
  port: number
  stop(): Promise<void>
}

export async function startServer(file: string, ...args: string[]): Promise<Server> {
  const program = await startProgram(file, ...args)
  return { pid: program.pid, port: await program.ask<number>({}), stop: program.stop }
}

export const sliceOf =
  (loader: Program, postgres: Postgres, server: Server, load: Omit<Load, 'port'>): Slice =>
  async () => {
    const cpu = cpuWatch([server.pid, postgres.pid], postgres.pid)
    const loaded = await loader.ask<Loaded>({ port: server.port, ...load } satisfies Load)
    return { ...loaded, cpu: cpu() / loaded.requests }
  }

/** One slice of each in turn, over and over; the first of each only warms up. */
export async function inTurns<const Sides extends Slice[]>(...sides: Sides): Promise<{ [I in keyof Sides]: Measured[] }> {
  for (const side of sides) await side()
  const all: Measured[][] = sides.map(() => [])
  for (let round = 0; round < ROUNDS; round++) for (const [i, side] of sides.entries()) all[i]!.push(await side())
  return all as { [I in keyof Sides]: Measured[] }
}

export const each = (measured: Measured[], name: keyof Measured): number[] => measured.map((one) => one[name])
