// What hosts show of themselves, as operators see it.
import { expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import type { Driver, HostCertificate } from '../../hypervisor/driver.ts'
import { addDuration } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import { readCertificates, readChassis } from './identity.reconciler.ts'

const app = await testApp()
const operator = await givenBrowser(app, { isOperator: true })
const shown = async () => (await operator.get(`/operator/hosts/${app.host.id}`)).body.data

test('the chassis of a host has its tunnel and the ports of its VMs', async () => {
  expect((await shown()).chassis).toEqual([])
  await app.given.vm(await app.given.customer({ credit: '100.00' }))
  await readChassis.runOnce(app.deps)
  const now = app.clock.now().toISOString()
  expect((await shown()).chassis).toEqual([
    { name: 'local', encaps: [{ type: 'geneve', address: '127.0.0.1' }], ports: 1, confirmedAt: now, seenAt: now },
  ])
})

test('a chassis that the network controller has forgotten is forgotten', async () => {
  await app.db.run(sql`
    insert into host_chassis (host_id, name, encaps, ports, seen_at) values (${app.host.id}, 'old', '[]', 0, ${app.clock.now()})`)
  app.clock.advance('1m')
  await readChassis.runOnce(app.deps)
  expect((await shown()).chassis.map(({ name }: { name: string }) => name)).toEqual(['local'])
})

test('the certificates of a host are those that were read last', async () => {
  expect((await shown()).certificates).toEqual([])
  await app.db.run(sql`update hosts set driver = 'libvirt'`)
  const expiresAt = addDuration(app.clock.now(), '20d')
  const of = (kind: HostCertificate['kind']): HostCertificate => ({ kind, subject: `CN=${kind}`, issuer: 'CN=authority', expiresAt })
  const read = (found: HostCertificate[]) => {
    const driver = { listCertificates: async () => found } as Partial<Driver> as Driver
    return readCertificates.runOnce({ ...app.deps, hypervisors: { ...app.deps.hypervisors, get: async () => driver } })
  }
  await read([of('LIBVIRT'), of('CHASSIS')])
  const seen = { issuer: 'CN=authority', expiresAt: expiresAt.toISOString(), seenAt: app.clock.now().toISOString() }
  expect((await shown()).certificates).toEqual([
    { kind: 'LIBVIRT', subject: 'CN=LIBVIRT', ...seen },
    { kind: 'CHASSIS', subject: 'CN=CHASSIS', ...seen },
  ])
  await read([of('LIBVIRT')])
  expect((await shown()).certificates).toHaveLength(1)
})
