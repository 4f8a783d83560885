import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { sql } from '../../kernel/database/db.ts'
import { masked } from './support-bundle.ts'

describe('berthd support-bundle', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const customer = await app.given.customer({ credit: '100.00' })
  const settings = {
    BERTH_DATABASE_URL: app.db.url,
    BERTH_DATA_DIR: app.config.dataDir,
    BERTH_PORT: '0',
    BERTH_DRAIN_SECONDS: '7',
    BERTH_SMTP_URL: 'smtp://mailer:mail-secret@mail.example.com',
    BERTH_MAIL_FROM: 'Cloud <noreply@cloud.example>',
    BERTH_STRIPE_SECRET_KEY: 'stripe-secret',
    BERTH_STRIPE_WEBHOOK_SECRET: 'stripe-hook',
  }

  test('tells what is wrong, and nothing that is secret or names a customer', async () => {
    const { actionId } = await app.given.vm(customer, { hostname: 'payroll' })
    const words = `connect postgres://berth:database-secret@10.0.0.1 for ${customer.email}: Bearer ${customer.token}`
    await app.db.run(sql`update workflow_steps set error = ${words} where run_id = ${actionId} and name = 'boot'`)
    await app.db.run(
      sql`update hosts set power_url = 'https://bmc.example', power_user = 'bmc-user', sealed_power_password = 'bmc-password'`,
    )
    const file = join(app.config.dataDir, 'support.json.gz')
    const { parts } = await berthdJson<{ parts: string[] }>(settings, 'support-bundle', file)
    const text = gunzipSync(await readFile(file)).toString()
    const bundle = JSON.parse(text)

    expect([Object.keys(bundle), (await stat(file)).mode & 0o777]).toEqual([parts, 0o600])
    expect(bundle.settings).toMatchObject({ BERTH_DRAIN_SECONDS: 7, BERTH_SMTP_URL: '(set)' })
    expect(bundle.doctor).toContainEqual(expect.objectContaining({ check: 'database', status: 'ok' }))
    expect(bundle.hosts).toMatchObject([{ driver: 'simulated' }])
    expect(bundle.vms).toEqual([{ status: 'RUNNING', count: 1 }])
    expect(bundle.actions).toContainEqual(expect.objectContaining({ name: 'vm.provision', status: 'COMPLETED', count: 1 }))
    expect(bundle.failures).toMatchObject([{ id: actionId, step: 'boot', error: 'connect postgres://…@10.0.0.1 for …@…: Bearer …' }])
    expect(bundle.database.tables).toContainEqual(expect.objectContaining({ schema: 'public', name: 'vms' }))

    const key = (await readFile(app.config.masterKeyFile, 'utf8')).trim()
    const secrets = [
      'mail-secret',
      'stripe-secret',
      'stripe-hook',
      'database-secret',
      'bmc',
      customer.token,
      customer.email,
      'payroll',
      key,
    ]
    expect(secrets.filter((each) => text.includes(each))).toEqual([])
  })

  test('replaces no file', async () => {
    const file = join(app.config.dataDir, 'twice.json.gz')
    await berthdJson(settings, 'support-bundle', file)
    const again = await berthd(settings, 'support-bundle', file)
    expect([again.code, again.stderr]).toEqual([2, `${file} already exists: choose another name\n`])
  })
})

test.each([
  ['"url":"redis://:hidden@10.0.0.2"', '"url":"redis://…@10.0.0.2"'],
  [String.raw`{\"password\":\"hidden\",\"a\":1}`, String.raw`{\"password\":\"…\",\"a\":1}`],
  ['authorization: Bearer hidden, then', 'authorization: Bearer …, then'],
  ['authorization=Basic aGlkZGVu,x-org=1', 'authorization=Basic …,x-org=1'],
  ['apikey=hidden&x=1', 'apikey=…&x=1'],
  ['with berthjoin_0123456789ABCDEFGHIJabcdefghij0123456789abcdef', 'with …'],
  ['with whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'with …'],
  ['berth_workflow_step_seconds_bucket 12', 'berth_workflow_step_seconds_bucket 12'],
])('%s is masked', (given, shown) => {
  expect(masked(given)).toBe(shown)
})
