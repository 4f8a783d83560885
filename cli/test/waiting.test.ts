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

test('actions of many VMs are waited for, and those that fail are named', async () => {
  const customer = await app.given.customer({ credit: '100.00' })
  for (const name of ['bulk-1', 'bulk-2']) await app.given.vm(customer, { name, labels: { set: 'bulk' } })
  const bulk = (action: string, ...options: string[]) =>
    berth(app.envOf(customer), ['vm', 'bulk', action, '--selector', 'set=bulk', '--yes', ...options])
  await app.simulated.faults.plant({ verb: 'ensureSnapshot', kind: 'permanent', times: 1 })
  const snapshots = await app.whileWorking(bulk('snapshot', '--name', 'nightly'))
  expect(snapshots).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/SNAPSHOT failed for 1 of 2 VMs\. bulk-[12]: \S+/) })
  expect(await app.whileWorking(bulk('stop', '--force'))).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/bulk-1 +\S+[^]*bulk-2 +\S+/),
  })
  const statuses = (await customer.get('/vms')).body.data.map(({ status }: { status: string }) => status)
  expect(statuses).toEqual(['STOPPED', 'STOPPED'])
  expect((await bulk('stop', '--dry-run')).stderr).toMatch(/^0 VMs, 2 refused; /)
  const refused = await bulk('stop')
  expect(refused).toMatchObject({ code: 1, stderr: 'Error: STOP was refused for every VM that set=bulk selects\n' })
  expect(refused.stdout).toMatch(/^bulk-1 +- +VM must be [^]*\nbulk-2 +- +VM must be /m)
  expect(JSON.parse((await bulk('stop', '--json')).stdout)).toMatchObject({ vms: [{ actionId: null }, { actionId: null }] })
  expect((await app.whileWorking(berth(app.envOf(customer), ['vm', 'start', 'bulk-1']))).code).toBe(0)
  expect((await bulk('start', '--dry-run')).stderr).toMatch(/^1 VM, 1 refused; /)
  expect(await bulk('start', '--no-wait')).toMatchObject({ code: 0, stderr: expect.stringContaining('berth action list') })
})
