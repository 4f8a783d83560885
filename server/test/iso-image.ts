// ISO images of customers for tests of the simulated driver, which reads none of their bytes.
import { catalogNumbers } from '../src/features/catalog/service.ts'
import { reserveQuotas } from '../src/features/accounts/service.ts'
import * as images from '../src/features/images/sql.ts'
import { firstPeriod } from '../src/features/renewals/service.ts'
import { tryCharge } from '../src/features/wallet/service.ts'
import { newId } from '../src/kernel/ids.ts'
import type { TestApp } from './harness.ts'

/** As an import leaves one, paid; its file is not there. */
export const givenIso = (
  app: TestApp,
  { accountId }: { accountId: string },
  { name = 'installer', gib = 1 }: { name?: string; gib?: number } = {},
): Promise<string> =>
  app.db.tx(async (tx) => {
    const [id, now] = [newId(), app.clock.now()]
    const cents = BigInt(gib) * (await catalogNumbers(tx))('price.image_gib')
    const period = firstPeriod(now, cents)
    await reserveQuotas(tx, accountId, { images: 1n, image_storage_gib: BigInt(gib) })
    await images.insertImage(tx, {
      id,
      account_id: accountId,
      name,
      labels: {},
      kind: 'ISO',
      source_type: 'URL',
      source: 'https://example.com/installer.iso',
      vm_id: null,
      run_id: newId(),
      counted_gib: gib,
      staging_host_id: null,
      staging_gib: 0,
      created_at: now,
    })
    const entry = { type: 'IMAGE_CHARGE', description: `First month of image ${name}`, referenceType: 'IMAGE', referenceId: id } as const
    const paid = await tryCharge(tx, now, accountId, cents, entry, { spender: {}, currency: app.config.currency })
    await images.insertPeriod(tx, id, period, paid!.id)
    await images.setPeriod(tx, now, id, period)
    const made = { sizeBytes: gib * 2 ** 30, checksum: `sha256:${'5'.repeat(64)}`, diskGiB: null, consistency: null }
    await images.markAvailable(tx, now, id, made)
    return id
  })
