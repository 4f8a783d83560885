// Disks of shelved VMs in targets: each is in the repository of its VM, as a backup without parent that object lock does not hold.
import { sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'
import { scheduleSweepsOfVm } from './sql.ts'

export type ShelvedDiskRow = Row<'shelved_disks'>

export const insertShelvedDisk = (tx: Tx, { id, vm_id, target_id, created_at }: Omit<ShelvedDiskRow, 'checksum' | 'is_unwanted'>) =>
  tx.run(sql`insert into shelved_disks (id, vm_id, target_id, created_at) values (${id}, ${vm_id}, ${target_id}, ${created_at})`)

export const setShelvedChecksum = (tx: Tx, id: string, checksum: string) =>
  tx.run(sql`update shelved_disks set checksum = ${checksum} where id = ${id}`)

/** The one that the VM is to be unshelved from. */
export const findShelvedDisk = (db: Queries, vmId: string) =>
  db.maybe<ShelvedDiskRow>(
    sql`select ${allColumns('shelved_disks')} from shelved_disks where vm_id = ${vmId} and not is_unwanted and checksum is not null`,
  )

/** All of the VM: the reconciler of removals in targets deletes them. */
export async function discardShelvedDisks(tx: Tx, now: Date, vmId: string): Promise<void> {
  const found = await tx.run(sql`update shelved_disks set is_unwanted = true where vm_id = ${vmId}`)
  if (found > 0) await scheduleSweepsOfVm(tx, vmId, now)
}

export const unwantedShelvedDisks = async (db: Queries, targetId: string, vmId: string): Promise<string[]> =>
  (
    await db.many<{ id: string }>(
      sql`select id from shelved_disks where target_id = ${targetId} and vm_id = ${vmId} and is_unwanted order by id`,
    )
  ).map(({ id }) => id)

export const forgetShelvedDisks = (db: Queries, ids: string[]) => db.run(sql`delete from shelved_disks where id = any(${ids}::text[])`)

export const countShelvedDisksIn = async (tx: Tx, targetId: string): Promise<number> =>
  Number((await tx.one<{ count: bigint }>(sql`select count(*) from shelved_disks where target_id = ${targetId}`)).count)
