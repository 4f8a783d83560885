import { findPendingUpgrade } from '../../database.ts'
import { listTemplateRows } from '../../features/catalog/service.ts'
import { imagesOf, targetsOf, type ImageTargets } from '../admin/template-facts.ts'
import { databaseCheck } from './database.ts'
import { failure, ok, warning, type Check } from './check.ts'

const NOWHERE: ImageTargets = { stored: [], missing: [] }

export const templates: Check = async (config) => {
  const images = imagesOf({ config })
  return databaseCheck('templates', async (db) => {
    const rows = await listTemplateRows(db)
    const targets = (await findPendingUpgrade(db)) ? () => NOWHERE : await targetsOf(db)
    const [lost, elsewhere, unstored]: [string[], string[], string[]] = [[], [], []]
    const ready = rows.filter(({ checksum }) => checksum !== '')
    for (const { slug, checksum } of ready) {
      const [isHere, { stored, missing }] = [await images.has(checksum), targets(checksum)]
      if (!isHere) (stored.length > 0 ? elsewhere : lost).push(slug)
      if (isHere || stored.length > 0)
        unstored.push(...missing.map(({ region_slug, error }) => `${slug} in that of ${region_slug}${error ? `: ${error}` : ''}`))
    }
    if (lost.length > 0)
      return failure(
        `the images of ${lost.join(', ')} are neither on this machine nor in a backup target`,
        `npm start builds those with a recipe; or: npx berthd template build ${lost[0]} (or import). If another machine has them, share the image folder or add a backup target: npx berthd backup-target add --help`,
      )
    if (unstored.length > 0)
      return warning(
        `images of templates are not in backup targets yet: ${unstored.join(', ')}`,
        'a worker that has their files stores them, two at a time; its log says why one fails',
      )
    const fetched = elsewhere.length > 0 ? `; in backup targets, and fetched when a host needs them: ${elsewhere.join(', ')}` : ''
    if (ready.length > 0) return ok(`templates with an image: ${ready.map(({ slug }) => slug).join(', ')}${fetched}`)
    return rows.some((row) => row.lacks_image)
      ? warning('no template has an image', 'npx berthd template build tiny')
      : ok('templates: no images are needed: no host runs real VMs')
  })(config)
}
