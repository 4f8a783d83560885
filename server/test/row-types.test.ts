// `npm run db:types` writes the file again after a migration.
import { expect, test } from 'vitest'
import { testDatabase } from './harness.ts'
import { rowTypes } from './statements/row-types.ts'

test('the row types are those of the migrated schema', async () => {
  await expect(await rowTypes(await testDatabase())).toMatchFileSnapshot('../src/schema/rows.gen.ts')
})
