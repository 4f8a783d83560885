import { listTemplateRows } from '../../features/catalog/service.ts'
import { imagesOf } from '../admin/template-facts.ts'
import { databaseCheck } from './database.ts'
import { failure, ok, warning, type Check } from './check.ts'

export const templates: Check = async (config) => {
  const images = imagesOf({ config })
  return databaseCheck('templates', async (db) => {
    const rows = await listTemplateRows(db)
    const lost = []
    for (const row of rows) if (row.checksum !== '' && !(await images.has(row.checksum))) lost.push(row.slug)
    if (lost.length > 0)
      return failure(
        `the images of ${lost.join(', ')} are missing`,
        `npm start builds those with a recipe; or: npx berthd template build ${lost[0]} (or import)`,
      )
    const ready = rows.filter(({ checksum }) => checksum !== '').map(({ slug }) => slug)
    if (ready.length > 0) return ok(`templates with an image: ${ready.join(', ')}`)
    return rows.some((row) => row.lacks_image)
      ? warning('no template has an image', 'npx berthd template build tiny')
      : ok('templates: no images are needed, VMs are simulated')
  })(config)
}
