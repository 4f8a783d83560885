import { findPendingUpgrade } from '../../database.ts'
import { listTargets } from '../../features/backup-targets/service.ts'
import { countAvailable, notStored } from '../../features/images/service.ts'
import { ok, warning } from './check.ts'
import { databaseCheck } from './database.ts'

/** So many are named. */
const NAMED = 10

export const ownImages = databaseCheck('images of customers', async (db) => {
  const count = (await findPendingUpgrade(db)) ? 0 : await countAvailable(db)
  if (count === 0) return ok('there are no images of customers')
  if ((await listTargets(db)).length === 0)
    return warning(
      count === 1 ? 'the image of a customer is in the image folder only' : `the ${count} images of customers are in the image folder only`,
      'copy it elsewhere, or keep them in a bucket: npx berthd backup-target add --help',
    )
  const missing = await notStored(db)
  if (missing.length === 0) return ok(`the images of customers are in backup targets: ${count}`)
  const names = missing
    .slice(0, NAMED)
    .map(({ id, name, region_slug, error }) => `${name} (${id}) in that of ${region_slug}${error ? `: ${error}` : ''}`)
  const more = missing.length > NAMED ? `, and ${missing.length - NAMED} more` : ''
  return warning(
    `images of customers are not in backup targets yet: ${names.join(', ')}${more}`,
    'a worker that has their files stores them, two at a time; its log says why one fails',
  )
})
