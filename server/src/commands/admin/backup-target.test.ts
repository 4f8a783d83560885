import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { givenBackupTarget, storesInMemory } from '../../../test/backup-target-fixture.ts'
import { testApp } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp(storesInMemory())
const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
const secretFile = join(app.config.dataDir, 'secret')
await writeFile(secretFile, 'the secret key\n'.replaceAll(' ', '-'))

const add = (...options: string[]) =>
  berthd(settings, 'backup-target', 'add', 's3', '--bucket', 'backups', '--access-key', 'AK', '--secret-file', secretFile, ...options)

describe('berthd backup-target', { timeout: 120_000 }, () => {
  test('stores nothing that is wrong or does not answer', async () => {
    const refused = await Promise.all([
      add('--endpoint', 'ftp://example.com'),
      add('--endpoint', 'https://example.com/path'),
      add('--endpoint', 'http://127.0.0.1:9', '--prefix', 'no-slash'),
      add('--endpoint', 'http://127.0.0.1:9', '--lock-days', '0'),
      add('--endpoint', 'http://127.0.0.1:9', '--bandwidth', 'fast'),
      add('--endpoint', 'http://127.0.0.1:9', '--secret-file', '/nowhere'),
      add('--endpoint', 'http://127.0.0.1:9', '--region', 'nowhere'),
      berthd(
        settings,
        'backup-target',
        'add',
        'ftp',
        '--endpoint',
        'http://127.0.0.1:9',
        '--bucket',
        'b',
        '--access-key',
        'A',
        '--secret-file',
        '-',
      ),
      add('--endpoint', 'http://127.0.0.1:9', '--lock-days', 'none', '--bandwidth', 'none'),
      berthd(settings, 'backup-target', 'set'),
      berthd(settings, 'backup-target', 'remove', '--yes'),
    ])
    expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
      [1, expect.stringContaining('must be a URL without path')],
      [1, expect.stringContaining('must be a URL without path')],
      [1, expect.stringContaining('with a slash after each')],
      [1, expect.stringContaining('from 1 to 3650')],
      [2, expect.stringContaining('whole number, or none')],
      [2, expect.stringContaining('/nowhere cannot be read')],
      [1, 'Region not found: npx berthd region list shows them\n'],
      [2, expect.stringContaining('must be s3')],
      [1, expect.stringContaining('the server does not answer')],
      [2, expect.stringContaining('Nothing to change')],
      [1, 'Backup target not found\n'],
    ])
    expect(await app.db.many(sql`select id from backup_targets`)).toEqual([])
  })

  test('is listed without its secret, checked by doctor, and removed only without backups', async () => {
    await givenBackupTarget(app, { lockDays: 5 })
    const [listed] = await berthdJson<Record<string, string>[]>(settings, 'backup-target', 'list')
    expect(listed).toMatchObject({ kind: 's3', endpoint: 'http://127.0.0.1:9', lockDays: 5, bandwidth: null })
    expect(Object.keys(listed!).join()).not.toMatch(/secret/i)
    for (const [given, stored] of [
      ['14', 14],
      ['none', null],
    ] as const)
      expect(await berthdJson(settings, 'backup-target', 'set', '--control-plane-days', given)).toMatchObject({ controlPlaneDays: stored })
    const checked = await berthd(settings, 'doctor', 'backups')
    expect([checked.code, checked.stdout]).toEqual([1, expect.stringContaining('sealed by another master key')])

    const customer = await app.given.customer({ credit: '100.00' })
    const { id: vmId } = await app.given.vm(customer)
    await customer.post(`/vms/${vmId}/backups`, { name: 'x' })
    await app.settle()
    const refused = await berthd(settings, 'backup-target', 'remove', '--yes')
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/has a backup of VMs: .* until its lock ends\n$/)])
    expect(await app.db.many(sql`select id from backup_targets`)).toHaveLength(1)
  })
})
