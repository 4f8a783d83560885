// A real guest burns CPU: its alert is told once, by event, mail and webhook, and ends once, with a worker that is killed each time.
import { expect, test } from 'vitest'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { eventually } from './processes.ts'
import { missingForRealHost, TIMEOUT_MS, realProduct } from './real-product.ts'
import { receiver } from './receiver.ts'
import { headerOf, smtpServer } from './smtp-server.ts'

/** In which it is looked at twice more. */
const BURNS_ON_MS = 130_000
/** A mail that the killed worker had taken is sent by another after six minutes. */
const SENT_MS = 480_000

describeIf(missingForRealHost())('an alert for a real VM', { timeout: 7 * TIMEOUT_MS }, async () => {
  const [mails, hook] = [await smtpServer(), await receiver()]
  const product = await realProduct(undefined, {
    BERTH_ALLOW_PRIVATE_WEBHOOKS: 'true',
    BERTH_SMTP_URL: mails.url(),
    BERTH_MAIL_FROM: 'noreply@cloud.example',
  })
  const { customer, ssh, processes, db } = product
  const replaceWorker = async (): Promise<void> => {
    await processes.worker.kill('SIGKILL')
    processes.worker = await product.start('worker')
  }

  test('is told once, and ends once', async () => {
    const key = await customer.make('/ssh-keys', { name: 'mine', publicKey: ssh.publicKey })
    const order = { ...(await customer.tiny()), planId: await customer.plan('nano'), hostname: 'busy', sshKeyIds: [key.id] }
    const vmId = await customer.order('POST', '/vms', order)
    const { ipAddress } = await customer.get(`/vms/${vmId}`)
    await customer.make('/webhooks', { url: hook.url, events: ['alert.fired', 'alert.resolved'] })
    // Far from an idle guest, and low enough for one that shares a busy machine.
    const rule = { metric: 'cpuPercent', comparison: 'ABOVE', threshold: 20, forMinutes: 1, vmIds: [vmId] }
    const alert = await customer.make('/alerts', { name: 'burning', ...rule })
    const told = async () =>
      (await db.many<{ type: string }>(sql`select type from events where subject_id = ${alert.id} order by number`)).map(({ type }) => type)
    /** Both may be sent again by the next worker, as the same. */
    const heard = () => [
      new Set(mails.received.map((mail) => headerOf(mail, 'message-id'))).size,
      new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size,
    ]

    await ssh.reached(ipAddress, "sh -c 'while :; do :; done' < /dev/null > /dev/null 2>&1 & echo $! > /tmp/burner; echo burning")
    await eventually(async () => (await told()).length > 0, TIMEOUT_MS)
    await replaceWorker()
    await eventually(async () => heard().every((count) => count > 0), SENT_MS)
    await sleep(BURNS_ON_MS)
    expect([await told(), heard()]).toEqual([['alert.fired'], [1, 1]])

    await ssh.reached(ipAddress, 'kill $(cat /tmp/burner); echo quiet')
    await eventually(async () => (await told()).length > 1, TIMEOUT_MS)
    await replaceWorker()
    await eventually(async () => heard().every((count) => count > 1), SENT_MS)
    await sleep(BURNS_ON_MS)
    expect([await told(), heard()]).toEqual([
      ['alert.fired', 'alert.resolved'],
      [2, 2],
    ])
    const types = new Set(hook.received.map(({ body }) => (JSON.parse(body) as { type: string }).type))
    expect(types).toEqual(new Set(['alert.fired', 'alert.resolved']))
    expect(await product.broken()).toBe('')
  })
})
