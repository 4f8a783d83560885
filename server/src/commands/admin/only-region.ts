import { listRegions } from '../../features/catalog/service.ts'
import type { Queries } from '../../kernel/database/db.ts'
import { UsageError } from '../errors.ts'

/** Slug of the region where an option names none. */
export async function onlyRegion(db: Queries): Promise<string> {
  const regions = await listRegions(db)
  const [only] = regions
  if (only && regions.length === 1) return only.slug
  throw new UsageError(`The region is ambiguous. Choose one: --region ${regions.map(({ slug }) => slug).join(' or ')}`)
}
