// What is waited for without steps shows on a terminal that it runs, and Ctrl-C does not end it.
import { expect, test } from 'vitest'
import { berth, createCliFixture, onTerminal } from './fixture.ts'
import { eventually } from '../../server/test/processes.ts'

const app = await createCliFixture()

test('an image is waited for with a sign of life', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const args = ['image', 'create', 'golden', '--vm', id, '--yes']
  const waited = onTerminal(app.envOf(customer), args)
  await eventually(() => Promise.resolve(waited.text().includes('making image golden')))
  waited.type('\x03')
  expect(await waited.ended).toMatchObject({ code: 7, screen: expect.stringMatching(/still being made. To look: berth image get \S+/) })
  await app.settle()
  expect(await berth(app.envOf(customer), ['image', 'get', 'golden'])).toMatchObject({ stdout: expect.stringContaining('AVAILABLE') })
})

test('a policy of daily backups that are off says so', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  const { id } = await app.given.vm(customer)
  const update = (...options: string[]) => berth(app.envOf(customer), ['vm', 'update', id, '--backup-hour', '3', ...options])
  expect(await update()).toMatchObject({ code: 0, stderr: expect.stringContaining(`Daily backups are off`) })
  expect(await update('--daily-backups', 'on')).toMatchObject({ code: 0, stderr: '' })
})
