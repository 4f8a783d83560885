// Publishes, replaces and withdraws the image of a template. Disks on hosts reference their backing image by template id, so one id never
// stands for two images: a replacement gets a new id, and the old row is kept while it is used.
import type { Tx } from '../../kernel/database/db.ts'
import type { Firmware } from '../../hypervisor/driver.ts'
import { apiError } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import * as sql from './sql.ts'
import { counted } from '../../kernel/counted.ts'

export interface NewImage {
  checksum: string
  fileBytes: number
  virtualBytes: number
  arch: string
  origin: string
}

export interface TemplateDraft {
  slug: string
  name: string
  version: string
  distribution: string
  arch: string
  minDiskGib: number
  minRamMib: number
  defaultUser: string
  hasAgent: boolean
  firmware: Firmware | null
  tpm: boolean
  imageUrl: string | null
}

export async function addTemplate(tx: Tx, now: Date, draft: TemplateDraft): Promise<void> {
  await sql.insertTemplate(tx, {
    id: newId(),
    slug: draft.slug,
    name: draft.name,
    version: draft.version,
    distribution: draft.distribution,
    arch: draft.arch,
    min_disk_gib: draft.minDiskGib,
    min_ram_mib: draft.minRamMib,
    default_user: draft.defaultUser,
    cloud_init: true,
    has_agent: draft.hasAgent,
    firmware: draft.firmware,
    tpm: draft.tpm,
    ...WITHOUT_IMAGE,
    recipe: null,
    image_url: draft.imageUrl,
    available: true,
    position: (await sql.listTemplates(tx)).length,
    created_at: now,
  })
}

/** Its twin for another architecture, such as debian-12-aarch64; added, without an image, when it is first asked for. */
export async function templateForArch(
  tx: Tx,
  now: Date,
  template: sql.TemplateRow,
  arch: string,
  imageUrl: string | null,
): Promise<sql.TemplateRow> {
  if (arch === template.arch) return template
  const slug = `${template.slug}-${arch.replaceAll('_', '-')}`
  const { lacks_image: _, deprecated_at: __, guest_types: ___, ...row } = template
  const names = { id: newId(), slug, name: `${template.name} (${arch})`, arch, firmware: null }
  if (!(await sql.findTemplate(tx, slug)))
    await sql.insertTemplate(tx, { ...row, ...WITHOUT_IMAGE, ...names, image_url: imageUrl, available: true, created_at: now })
  return (await sql.findTemplate(tx, slug))!
}

const WITHOUT_IMAGE = { size_bytes: 0n, checksum: '', virtual_bytes: 0n, origin: '', imported_at: null }

/** Returns the checksum of an image that is no longer referenced, or null. */
export async function publishImage(tx: Tx, now: Date, template: sql.TemplateRow, image: NewImage): Promise<string | null> {
  const isNew = template.checksum !== '' && template.checksum !== image.checksum
  const orphan = isNew ? await replace(tx, now, template) : null
  const { id } = (await sql.findTemplate(tx, template.slug))!
  await sql.setImage(tx, id, now, {
    checksum: image.checksum,
    size_bytes: BigInt(image.fileBytes),
    virtual_bytes: BigInt(image.virtualBytes),
    origin: image.origin,
  })
  return orphan
}

/** Returns the checksum of an image that is no longer referenced, or null. */
export async function withdrawTemplate(tx: Tx, now: Date, template: sql.TemplateRow): Promise<string | null> {
  if (template.checksum === '') throw apiError('invalid_state', `OS template ${template.slug} has no image`)
  const use = await sql.lockTemplateUse(tx, template.id)
  if (use.vms > 0n || use.copies > 0n) {
    throw apiError(
      'in_use',
      `OS template ${template.slug} is used by ${counted(use.vms, 'VM')} and ${counted(use.copies, 'snapshot or backup', 'snapshots and backups')}, whose disks need its image`,
    )
  }
  return replace(tx, now, template)
}

/** Inserts a row without an image in place of this one, which is retired while disks depend on it and deleted otherwise. */
async function replace(tx: Tx, now: Date, template: sql.TemplateRow): Promise<string | null> {
  const { lacks_image: _, deprecated_at: __, guest_types: ___, ...row } = template
  const use = await sql.lockTemplateUse(tx, template.id)
  const isUsed = use.vms > 0n || use.copies > 0n
  if (isUsed) await sql.retireTemplate(tx, template.id, `${template.slug}-${template.checksum.replace('sha256:', '').slice(0, 8)}`, now)
  else await sql.deleteTemplate(tx, template.id)
  await sql.insertTemplate(tx, { ...row, ...WITHOUT_IMAGE, id: newId() })
  if (isUsed || (await sql.listTemplates(tx)).some((other) => other.checksum === template.checksum)) return null
  return template.checksum
}
