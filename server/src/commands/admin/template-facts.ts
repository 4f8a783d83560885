// What the commands of templates share. It brings no builder, for which those that only list need not wait.
import { listTargets } from '../../features/backup-targets/service.ts'
import type { TemplateRow } from '../../features/catalog/service.ts'
import { digitsOf, openImageStore } from '../../images/store.ts'
import { systemClock } from '../../kernel/clock.ts'
import type { Queries } from '../../kernel/database/db.ts'
import type { Admin } from '../admin-command.ts'

export interface ImportOptions {
  url?: string
  file?: string
  checksum?: string
  checksums?: string
  unverified?: boolean
  name?: string
  osVersion: string
  distribution: string
  arch?: string
  user: string
  agent?: boolean
  firmware?: string
  tpm?: boolean
}

export const imagesOf = ({ config }: Pick<Admin, 'config'>) => openImageStore(config.imagesDir, systemClock)

export const facts = (row: TemplateRow) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  arch: row.arch,
  firmware: row.firmware,
  tpm: row.tpm,
  sizeBytes: Number(row.size_bytes),
  virtualBytes: Number(row.virtual_bytes),
  checksum: row.checksum,
  origin: row.origin,
  importedAt: row.imported_at?.toISOString() ?? null,
})

/** By checksum: the regions in whose backup targets the image is, and those in whose it is to be. */
export async function targetsOf(db: Queries): Promise<(checksum: string) => ImageTargets> {
  if ((await listTargets(db)).length === 0) return () => ({ stored: [], missing: [] })
  const { templateCopies } = await import('../../features/images/service.ts') // imported on demand: it loads the features of VMs
  const copies = await templateCopies(db)
  return (checksum) => {
    const own = copies.filter(({ id }) => id === digitsOf(checksum))
    return {
      stored: own.filter(({ is_stored }) => is_stored).map(({ region_slug }) => region_slug),
      missing: own.filter(({ is_stored }) => !is_stored),
    }
  }
}

export interface ImageTargets {
  stored: string[]
  missing: { region_slug: string; error: string | null }[]
}
