// What operators import as the image of an OS template.
import type { Firmware } from '../../hypervisor/driver.ts'
import { nativeArch, type Arch } from '../../kernel/arch.ts'
import type { Queries, Tx } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { readCatalog } from '../catalog/seed.ts'
import { findTemplate, templateForArch, type TemplateDraft, type TemplateRow } from '../catalog/service.ts'
import type { Deps } from '../deps.ts'
import { importTemplateWorkflow, type TemplateImportInput } from './import-template.workflow.ts'
import * as sql from './template-imports.sql.ts'

export interface TemplateOrder {
  slug: string
  url?: string
  checksum?: string
  checksumsUrl?: string
  arch?: Arch
  name?: string
  version?: string
  distribution?: string
  minDisk?: number
  minRam?: number
  defaultUser?: string
  hasAgent?: boolean
  firmware?: Firmware
  tpm?: boolean
}

const ONLY_OF_NEW = ['name', 'version', 'distribution', 'minDisk', 'minRam', 'defaultUser', 'hasAgent', 'firmware', 'tpm'] as const

export const listTemplateImports = (db: Queries) => sql.listTemplateImports(db)

/** `reasonAgainst`: why the URL may not be called. */
export async function startTemplateImport(tx: Tx, deps: Deps, order: TemplateOrder, reasonAgainst: string | null): Promise<string> {
  if (reasonAgainst) throw apiError('url_not_allowed', `The URL may not be called: ${reasonAgainst}`)
  const now = deps.clock.now()
  const found = await findTemplate(tx, order.slug)
  const known = found && (await forArch(tx, deps, found, order.arch))
  const wrong = known && ONLY_OF_NEW.find((field) => order[field] !== undefined)
  if (wrong) throw invalid(`OS template ${order.slug} is in the catalog already: ${wrong} is only for a new one`, wrong)
  const draft = known ? null : draftOf(order)
  const { slug, arch } = known ?? draft!
  const url = order.url ?? known?.image_url
  if (!url) throw invalid('the catalog has no URL of an image of this template: give one', 'url')
  const input = { slug, url, checksum: checksumOf(deps, order, arch, url), arch: arch as Arch, draft }
  const id = newId()
  await sql.insertTemplateImport(tx, { id, slug, url, doing: '', created_at: now })
  return deps.workflows.start(tx, importTemplateWorkflow, input, { label: 'TEMPLATE_IMPORT', subjectId: `template-${slug}`, runId: id })
}

const inCatalog = ({ config }: Deps) => readCatalog(config.catalogFile).osTemplates

function forArch(tx: Tx, deps: Deps, template: TemplateRow, arch = template.arch): Promise<TemplateRow> {
  const url = inCatalog(deps).find(({ slug }) => slug === template.slug)?.urls?.[arch] ?? null
  return templateForArch(tx, deps.clock.now(), template, arch, url)
}

function draftOf({ slug, url, name, arch = nativeArch(), firmware, ...order }: TemplateOrder): TemplateDraft {
  if (name === undefined) throw invalid('it is required for a template that is not in the catalog', 'name')
  if (firmware !== undefined && firmware !== 'uefi' && arch !== 'x86_64') throw invalid('only guests of x86_64 can have it', 'firmware')
  return {
    slug,
    name,
    version: order.version ?? '1',
    distribution: order.distribution ?? 'custom',
    arch,
    minDiskGib: order.minDisk ?? 1,
    minRamMib: order.minRam ?? 128,
    defaultUser: order.defaultUser ?? 'root',
    hasAgent: order.hasAgent ?? false,
    firmware: firmware ?? null,
    tpm: order.tpm ?? false,
    imageUrl: url ?? null,
  }
}

/** Of the catalog, for its own URL only. */
function checksumOf(deps: Deps, order: TemplateOrder, arch: string, url: string): TemplateImportInput['checksum'] {
  if (order.checksum !== undefined) return { given: order.checksum }
  const publishedAt = order.checksumsUrl ?? inCatalog(deps).find(({ urls }) => urls?.[arch] === url)?.checksums?.[arch]
  if (publishedAt === undefined)
    throw invalid('no checksum of this image is known: give it, or the URL of the file that has it', 'checksum')
  return { publishedAt }
}
