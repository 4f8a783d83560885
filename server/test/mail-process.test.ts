// Emails as sent by a real worker process with an operator's settings.
import { describe, expect, test } from 'vitest'
import { testApp } from './harness.ts'
import { berthd, berthdJson, eventually, service } from './processes.ts'
import { headerOf, smtpServer } from './smtp-server.ts'

describe('a worker with a mail server', { timeout: 120_000 }, async () => {
  const app = await testApp()
  const server = await smtpServer()
  const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }
  const mail = { BERTH_SMTP_URL: server.url(), BERTH_MAIL_FROM: 'noreply@cloud.example' }

  test('emails a customer immediately about a ticket reply', async () => {
    const customer = await app.given.customer()
    const { id } = (await customer.post('/tickets', { subject: 'Help', body: 'Please' })).body.data
    const worker = await service({ ...settings, ...mail }, 'worker')
    await berthdJson(settings, 'ticket', 'reply', id, '--body', 'Here you are')
    const [received] = await eventually(async () => server.received.length > 0 && server.received)
    expect([received!.to, headerOf(received!, 'subject')]).toEqual([[customer.email], 'New reply to your ticket: Help'])
    expect(await worker.kill('SIGTERM')).toBe(0)
  })

  test('does not start with incomplete settings, without showing the password', async () => {
    const half = await berthd({ ...settings, BERTH_SMTP_URL: 'smtp://berth:hunter2@mail.example.com' }, 'worker')
    expect([half.code, half.stderr]).toEqual([1, expect.stringContaining('BERTH_MAIL_FROM')])
    const wrong = await berthd({ ...settings, ...mail, BERTH_SMTP_URL: 'http://berth:hunter2@mail.example.com' }, 'worker')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('BERTH_SMTP_URL must be like')])
    for (const { stdout, stderr } of [half, wrong]) expect(stdout + stderr).not.toContain('hunter2')
  })
})
