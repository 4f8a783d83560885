import { pino } from 'pino'
import { expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import type { Driver } from '../../hypervisor/driver.ts'
import { sql } from '../../kernel/database/db.ts'
import { renewChassisCertificates } from './chassis-certificates.reconciler.ts'

const app = await testApp()

test.each([
  ['10.0.0.5', '10.0.0.5', true],
  ['rack-1.example.com', 'Rack-1.example.com', true],
  ['[fd00::5]', 'fd00--5', true],
  ['[fd00::5]', 'fd00-0--5', true],
  ['10.0.0.5', '10.0.0.6', false],
  ['[fd00::5]', 'fd00--6', false],
  ['10.0.0.5', '10.0.0.5\nO=x', false],
  ['', '', false],
])('the host at "%s" gets the certificate of the chassis "%s": %s', async (address, name, isIssued) => {
  await app.db.run(sql`update hosts set driver = 'libvirt', uri = ${address ? `qemu+tls://${address}/system` : 'qemu:///system'}`)
  const [asked, warnings]: [string[], object[]] = [[], []]
  const driver = {
    ensureChassisCertificate: async (_, issue) => ((await issue(name)) ? 'renewed' : null),
  } as Partial<Driver> as Driver
  await renewChassisCertificates.runOnce({
    ...app.deps,
    hypervisors: { ...app.deps.hypervisors, get: async () => driver },
    issueChassis: async (chassis) => (asked.push(chassis), { cert: 'cert', key: 'key' }),
    log: pino({ level: 'warn', base: null }, { write: (line) => void warnings.push(JSON.parse(line) as object) }),
  })
  expect(asked).toEqual(isIssued ? [name] : [])
  const expected = address.replace(/^\[(.*)\]$/, '$1').replaceAll(':', '-')
  expect(warnings).toMatchObject(isIssued ? [] : [{ hostId: app.host.id, chassis: name, expected }])
})
