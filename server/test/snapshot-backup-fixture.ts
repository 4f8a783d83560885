// Helpers of snapshot, backup and restore tests.
import { expect } from 'vitest'
import { latestDaily } from '../src/features/backups/sql.ts'
import { startBackup } from '../src/features/backups/service.ts'
import { addPool, listHosts, type HostRow } from '../src/features/hosts/service.ts'
import { getVmRow } from '../src/features/vms/service.ts'
import { sql } from '../src/kernel/database/db.ts'
import type { AnyWorkflow } from '../src/workflow/executor.ts'
import type { RunRow } from '../src/workflow/run-store.ts'
import { testCrashSafety } from '../src/workflow/testing.ts'
import type { TestApp } from './harness.ts'
import { givenHost } from './hosts.ts'
import { testRunner } from './run-workflows.ts'

/** The volumes of a VM on the hosts, for example `disk 1` or `snapshot`, with a note when incomplete or on another host. */
export async function volumesOf(app: TestApp, vmId: string): Promise<string[]> {
  const found: string[] = []
  for (const host of await listHosts(app.db)) {
    const driver = await app.deps.hypervisors.get(host.id)
    for await (const { kind, generation, complete, vmId: owner } of driver.listVolumes(AbortSignal.timeout(5_000))) {
      const parts = [kind, generation, complete ? null : 'half made', host.id === app.host.id ? null : `on ${host.name}`]
      if (owner === vmId) found.push(parts.filter((part) => part !== null).join(' '))
    }
  }
  return found.sort()
}

/** The backups that its disk knows the changes since. */
export const checkpointsOf = async (app: TestApp, vmId: string): Promise<string[]> =>
  (
    await app.db.many<{ id: string }>(
      sql`select unnest(checkpoints) as id from simulated.volumes where vm_id = ${vmId} and kind = 'disk' order by id`,
    )
  ).map(({ id }) => id)

/** Writes something to the disk that identifies its state. */
export const diskOf = (app: TestApp, vmId: string) => ({
  write: (text: string): Promise<void> => app.simulated.drift.writeFile(vmId, 'moment', text),
  read: (): Promise<string | null> => app.simulated.drift.readFile(vmId, 'moment'),
})

/** Like a daily backup: incremental to the previous one. */
export const startDailyBackup = (app: TestApp, vmId: string, name = 'Daily') =>
  app.db.tx(async (tx) => {
    const parent = (await latestDaily(tx, vmId)) ?? null
    return (await startBackup(tx, app.deps, await getVmRow(tx, vmId), { name, type: 'DAILY', parent, failures: 0 })).row
  })

/** A second host that gets no VMs unless the first is lost. */
export async function givenSecondHost(app: TestApp): Promise<HostRow> {
  const host = await givenHost(app, 'second')
  const pool = { regionId: host.region_id, hostId: host.id, cidr: '10.66.0.0/24', gateway: '10.66.0.1', dns: [] }
  await app.db.tx((tx) => addPool(tx, app.clock.now(), pool))
  await app.db.run(sql`update hosts set ram_total_mib = ram_total_mib / 8 where id = ${host.id}`)
  return host
}

/** Raises the VM quota. Limits per VM stay. */
export const allowManyVms = (app: TestApp) =>
  app.db.run(sql`update catalog_values set value = value * 1000 where name like 'quota.%' and position('_per_' in name) = 0`)

/** Everything that creating, restoring and deleting copies can change. */
export async function fixtureOf(app: TestApp, vmId: string) {
  const driver = await app.deps.hypervisors.get(app.host.id)
  return {
    vm: await app.db.one<{ status: string; generation: number }>(
      sql`select status, generation, os_template_id from vms where id = ${vmId}`,
    ),
    power: (await driver.findMachine(vmId, AbortSignal.timeout(5_000)))?.power,
    moment: await diskOf(app, vmId).read(),
    volumes: await volumesOf(app, vmId),
    checkpoints: await checkpointsOf(app, vmId),
    copies: (
      await app.db.many<{ what: string }>(sql`
        select 'snapshot ' || status as what from snapshots where vm_id = ${vmId}
        union all select 'backup ' || status from backups where vm_id = ${vmId} order by what`)
    ).map((row) => row.what),
  }
}

export type Fixture = Awaited<ReturnType<typeof fixtureOf>>

export interface CopyProof {
  vmId: string
  workflow: AnyWorkflow
  /** Starts the action; returns its id. */
  act: () => Promise<string>
  completed: (after: Fixture, before: Fixture) => void | Promise<void>
  failed: (after: Fixture, before: Fixture) => void | Promise<void>
}

/** Runs the crash tests of the workflow, each time on the same VM. */
export async function proveOnVm(
  app: TestApp,
  { vmId, workflow, act, completed, failed }: CopyProof,
  thorough: boolean,
  between: () => Promise<unknown> = async () => {},
): Promise<void> {
  let before: Fixture
  const setup = {
    db: app.db,
    clock: app.clock,
    runner: testRunner(app.deps),
    workflow,
    start: async () => {
      await between()
      await diskOf(app, vmId).write('after')
      before = await fixtureOf(app, vmId)
      return act()
    },
    completed: async (run: RunRow) => {
      expect(run).toMatchObject({ status: 'COMPLETED', error: null })
      await completed(await fixtureOf(app, vmId), before)
    },
    failed: async (run: RunRow) => {
      expect(run).toMatchObject({ status: 'FAILED', cleanup_failed: false })
      await failed(await fixtureOf(app, vmId), before)
    },
  }
  expect((await testCrashSafety(setup, { thorough })).length).toBeGreaterThan(workflow.steps.length)
}
