// ISO images in the CD drives of VMs, one each. The row exists from the request on, so that nobody deletes the image; since `attached_at` whatever starts
// the machine of the VM starts it with the image, unless that starts a rescue system. `active` is noted whenever the machine was started, or got it since.
import type { IsoRef } from '../../../hypervisor/driver.ts'
import { sql, type NotNull, type Queries, type Sql, type Tx } from '../../../kernel/database/db.ts'
import { apiError, notFound } from '../../../kernel/errors.ts'
import { allColumns } from '../../../schema/columns.ts'
import type { Row } from '../../../schema/rows.gen.ts'
import { triggerReconciler } from '../../../workflow/reconciler-loop.ts'
import { EVICT, reserveImageRoom } from '../../hosts/capacity.ts'

/** As the full form of a VM shows it. */
export interface IsoShown {
  image_id: string
  name: string
  /** A timestamp as PostgreSQL writes it. */
  since: string
  active: boolean
}

/** Of the VM with this id. */
export const hasIso = (vmId: Sql): Sql => sql`exists (select from vm_isos s where s.vm_id = ${vmId} and s.attached_at is not null)`

export const isoAsJson = (vmId: Sql): Sql => sql`
  (select json_build_object('image_id', i.id, 'name', i.name, 'since', s.attached_at, 'active', s.active)
    from vm_isos s join images i on i.id = s.image_id where s.vm_id = ${vmId} and s.attached_at is not null)`

type ImageRow = Pick<Row<'images'>, 'id' | 'account_id' | 'name' | 'kind' | 'status' | 'billing_status' | 'checksum' | 'size_bytes'>

export type IsoRow = Row<'vm_isos'> & Pick<ImageRow, 'name' | 'checksum' | 'size_bytes'>

/** Of VMs that have it, in the order in which they are locked. */
export const vmsWithIso = async (db: Queries, imageId: string): Promise<string[]> =>
  (await db.many<{ vm_id: NotNull<string> }>(sql`select vm_id from vm_isos where image_id = ${imageId} order by vm_id`)).map(
    ({ vm_id }) => vm_id,
  )

/** Also one that is being attached. */
export const findIso = (db: Queries, vmId: string) =>
  db.maybe<IsoRow>(sql`
    select ${allColumns('vm_isos', 's')}, i.name, i.checksum, i.size_bytes from vm_isos s join images i on i.id = s.image_id where s.vm_id = ${vmId}`)

export async function getIso(db: Queries, vmId: string): Promise<IsoRow> {
  const row = await findIso(db, vmId)
  if (!row) throw new Error(`BUG: the ISO image of VM ${vmId} is gone while an action works on it`)
  return row
}

export const toIsoRef = ({ image_id, checksum, size_bytes }: Pick<IsoRow, 'image_id' | 'checksum' | 'size_bytes'>): IsoRef => ({
  imageId: image_id,
  checksum,
  sizeBytes: Number(size_bytes),
})

/** Of the account, and usable; it stays until the transaction ends. */
export async function holdIsoImage(tx: Tx, accountId: string, imageId: string): Promise<ImageRow> {
  const image = await tx.maybe<ImageRow>(sql`
    select id, account_id, name, kind, status, billing_status, checksum, size_bytes from images
    where id = ${imageId} and account_id = ${accountId} for share`)
  if (!image) throw notFound('Image')
  const { name, kind, status, billing_status } = image
  if (kind !== 'ISO') throw apiError('incompatible', `Image ${name} is a disk, not an ISO image: make a VM from it, or rebuild one`)
  if (status !== 'AVAILABLE') throw apiError('invalid_state', `Image ${name} is ${status}: only one that is AVAILABLE is attached`)
  if (billing_status === 'SUSPENDED') throw apiError('invalid_state', `Image ${name} is not paid: deposit what is due, it renews by itself`)
  return image
}

/** Where a VM moves. The image is locked before hosts: its room there may be about to be released. */
export const holdIsoOf = (tx: Tx, vmId: string) =>
  tx.run(sql`select from vm_isos s join images i on i.id = s.image_id where s.vm_id = ${vmId} for share of i`)

/** The image needs room on the host once, for all VMs there that have it: also of those with replicated storage. */
export async function reserveIso(tx: Tx, vm: Pick<Row<'vms'>, 'id' | 'host_id'>, image: ImageRow): Promise<void> {
  await reserveImageRoom(tx, image, { host_id: vm.host_id, storage_id: null })
  await tx.run(sql`insert into vm_isos (vm_id, image_id) values (${vm.id}, ${image.id})`)
}

export const markIsoAttached = (tx: Tx, now: Date, vmId: string, active: boolean) =>
  tx.run(sql`update vm_isos set attached_at = ${now}, active = ${active} where vm_id = ${vmId}`)

/** Of a machine that was started, as its host says. */
export const setIsoActive = (db: Queries, vmId: string, isoId: string | null) =>
  db.run(sql`
    update vm_isos set active = (image_id is not distinct from ${isoId})
    where vm_id = ${vmId} and active <> (image_id is not distinct from ${isoId})`)

/** Its file is removed from the host, which returns its room, where no other VM has it. False where there is none. */
export async function releaseIso(tx: Tx, vmId: string): Promise<boolean> {
  const row = await tx.maybe<{ image_id: NotNull<string> }>(sql`delete from vm_isos where vm_id = ${vmId} returning image_id`)
  if (row) await triggerReconciler(tx, EVICT)
  return row !== undefined
}
