// What the commands of templates share. It brings no builder, for which those that only list need not wait.
import type { TemplateRow } from '../../features/catalog/service.ts'
import { openImageStore } from '../../images/store.ts'
import { systemClock } from '../../kernel/clock.ts'
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
}

export const imagesOf = ({ config }: Pick<Admin, 'config'>) => openImageStore(config.imagesDir, systemClock)

export const facts = (row: TemplateRow) => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  arch: row.arch,
  sizeBytes: Number(row.size_bytes),
  virtualBytes: Number(row.virtual_bytes),
  checksum: row.checksum,
  origin: row.origin,
  importedAt: row.imported_at?.toISOString() ?? null,
})
