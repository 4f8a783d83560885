// Every procedure once, against a real libvirtd, over the unix socket and over TLS. Each must answer or refuse as libvirt does;
// an answer that cannot be read means a wrong layout. What changed is judged by virsh.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { areas, Connection, ProtocolError } from '../../src/index.ts'
import type { CallReport } from '../../src/index.ts'
import type { Sandbox } from '../sandboxed-libvirtd.ts'
import type { Sandboxes } from '../sandbox-fleet.ts'
import { missingForSandbox } from '../command.ts'
import { describeIf } from '../describe-if.ts'
import { openSandboxes } from '../fixture.ts'
import { provesCopies, provesMigrationSteps } from './copies.ts'
import { provesAgent, provesDevices } from './devices.ts'
import { provesDefinition, provesEnd, provesRunning } from './domains.ts'
import { provesMachine, provesRegistrations } from './machine.ts'
import { provesNetworks } from './networks.ts'
import { provesStorage } from './storage.ts'
import type { Fixture } from './fixture.ts'

describeIf(missingForSandbox())('the contract with libvirtd', () => {
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  beforeAll(async () => void ({ sandboxes, sandbox } = await openSandboxes(1)), 120_000)
  afterAll(() => sandboxes.close())

  describe.each(['unix', 'tls'] as const)('over %s', (kind) => {
    const reports: CallReport[] = []
    const fixture = { kind } as Fixture
    beforeAll(async () => {
      const c = await Connection.open({ endpoint: sandboxes[kind](sandbox), onCall: (report) => reports.push(report) })
      Object.assign(fixture, { sandbox, c })
    })
    afterAll(() => fixture.c.close())

    test('the connection and its machine', () => provesMachine(fixture))
    test('pools, volumes and secrets', () => provesStorage(fixture))
    test('networks and filters', () => provesNetworks(fixture))
    test('a domain that is not running', () => provesDefinition(fixture))
    test('a domain that runs', () => provesRunning(fixture))
    test('devices that come and go', () => provesDevices(fixture))
    test('the agent that is not there, and the monitor that is', () => provesAgent(fixture))
    test('copies of a running domain', () => provesCopies(fixture))
    test('migration to nowhere, step by step', () => provesMigrationSteps(fixture))
    test('event registrations', () => provesRegistrations(fixture))
    test('the end of a domain', () => provesEnd(fixture))

    test('none was left out, and no answer was misread', () => {
      const called = new Set(reports.map((report) => report.procedure))
      const known = Object.values(areas).flatMap((area) => Object.values(area).map((procedure: { name: string }) => procedure.name))
      expect(known.filter((name) => !called.has(name))).toEqual([])
      expect(reports.filter((report) => report.error instanceof ProtocolError)).toEqual([])
      // What the daemon says when it cannot read our arguments.
      expect(reports.filter((report) => /decode|payload/.test(report.error?.message ?? ''))).toEqual([])
    })
  })
})
