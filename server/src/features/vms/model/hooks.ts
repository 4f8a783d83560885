import type { Tx } from '../../../kernel/database/db.ts'
import * as sql from './sql.ts'

type ShapeHook = (tx: Tx, now: Date, vmId: string) => Promise<unknown>
const hooks: ShapeHook[] = []

/** For what follows from a VM's size, such as how much traffic it may use. Called in the transaction that changes it. */
export const onResize = (hook: ShapeHook): void => void hooks.push(hook)

export async function resizeVm(tx: Tx, now: Date, vmId: string, shape: sql.VmSize): Promise<void> {
  await sql.setShape(tx, now, vmId, shape)
  await notifyResized(tx, now, vmId)
}

export async function notifyResized(tx: Tx, now: Date, vmId: string): Promise<void> {
  for (const hook of hooks) await hook(tx, now, vmId)
}
