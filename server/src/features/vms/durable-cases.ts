// Crash and failure injection for every VM workflow: a sample in `npm test`, every combination in `npm run prove`.
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { sellReplicated } from '../../../test/replicated-storage.ts'
import { givenIso } from '../../../test/iso-image.ts'
import { testRunner } from '../../../test/run-workflows.ts'
import { sql } from '../../kernel/database/db.ts'
import type { AnyWorkflow } from '../../workflow/executor.ts'
import { findRun } from '../../workflow/run-store.ts'
import { testCrashSafety } from '../../workflow/testing.ts'
import { applyPorts } from './reconcilers/apply-ports.reconciler.ts'
import { syncPowerStates } from './reconcilers/power-sync.reconciler.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'
import { getVmRow, machineSpec } from './model/machine-spec.ts'
import { recordStaleMachine } from './model/stale-machines.ts'
import { resizeElsewhere } from './actions/resize.workflow.ts'
import { startMigration } from './operator/migrate.ts'
import { migrateVm } from './operator/migrate.workflow.ts'
import { repairVm } from './recovery/repair.ts'
import { vmWorkflows } from './workflows.ts'

/** Several hundred trials each, every one with its own VM. */
const MINUTES = 600_000

interface Extent {
  /** Whether every kill has a run of its own. */
  thorough: boolean
  /** Only some of the workflows, and one migration. */
  sample?: boolean
  storage?: 'LOCAL' | 'REPLICATED'
}

export function describeDurability({ thorough, sample = false, storage = 'LOCAL' }: Extent): void {
  describe(`every VM workflow survives a crash and a failure at any step, on ${storage} storage`, async () => {
    const app = await testApp()
    if (storage === 'REPLICATED') await sellReplicated(app)
    await app.db.run(sql`update catalog_values set value = 100000000 where name like 'quota.%'`)
    await app.db.run(sql`update hosts set vcpu_total = 100000, ram_total_mib = 100000000, disk_total_gib = 10000000`)
    const customer = await app.given.customer({ credit: '1000000.00' })
    const input = await app.given.vmInput()
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const large = plans.find((each) => each.slug === 'large')!.id
    const flow = (name: string): AnyWorkflow => vmWorkflows.find((each) => each.name === name)!

    interface Fixture {
      balance: string
      used: unknown
      quotas: unknown
      free: unknown
      vm: Record<string, unknown> | undefined
      power: string | undefined
      volumes: string[]
      userData: { is_due: boolean }[]
      rescue: { is_active: boolean } | undefined
      rescueGeneration: number | null | undefined
      iso: { is_attached: boolean; active: boolean } | undefined
      isoId: string | null | undefined
      diskGiB: number | null
    }
    const diskOf = async (vmId: string): Promise<number | null> =>
      (
        await app.db.one<{ gib: number | null }>(
          sql`select (max(capacity_bytes) >> 30)::int as gib from simulated.volumes where vm_id = ${vmId} and kind = 'disk'`,
        )
      ).gib
    const look = async (vmId: string): Promise<Fixture> => {
      const driver = await app.deps.hypervisors.get(app.host.id)
      const signal = AbortSignal.timeout(5_000)
      const machine = await driver.findMachine(vmId, signal)
      const volumes: string[] = []
      for await (const volume of driver.listVolumes(signal))
        if (volume.vmId === vmId) volumes.push(`${volume.kind} ${volume.generation} ${volume.complete}`)
      return {
        balance: (await customer.get('/wallet')).body.data.balance as string,
        used: await app.db.one(sql`
          select vcpu_used, ram_used_mib, disk_used_gib, disk_restoring_gib, array(select used_gib from storage_backends) as pools from hosts where id = ${app.host.id}`),
        quotas: await app.db.many(sql`select name, used from account_quotas where account_id = ${customer.accountId} order by name`),
        free: await app.db.one(sql`select count(*) from free_addresses`),
        vm: await app.db.maybe<Record<string, unknown>>(sql`
        select status, vcpu, ram_mib, disk_gib, plan_id, os_template_id, generation, billing_status, period_price_cents from vms where id = ${vmId}`),
        userData: await app.db.many<{ is_due: boolean }>(sql`select due_at is not null as is_due from vm_user_data where vm_id = ${vmId}`),
        rescue: await app.db.maybe<{ is_active: boolean }>(
          sql`select started_at is not null as is_active from vm_rescues where vm_id = ${vmId}`,
        ),
        power: machine?.power,
        rescueGeneration: machine?.rescueGeneration,
        iso: await app.db.maybe<{ is_attached: boolean; active: boolean }>(
          sql`select attached_at is not null as is_attached, active from vm_isos where vm_id = ${vmId}`,
        ),
        isoId: machine?.isoId,
        volumes: volumes.sort(),
        diskGiB: await diskOf(vmId),
      }
    }

    /**
     * Starts a new action for each trial, and compares the state after a compensated failure with the state before. A disk never shrinks: what has grown
     * before the failure is sold.
     */
    const prove = async (
      name: string,
      arrange: () => Promise<string>,
      act: (vmId: string) => Promise<string>,
      completed: (fixture: Fixture, before: Fixture) => void,
    ) => {
      let vmId = ''
      let before: Fixture
      return testCrashSafety(
        {
          db: app.db,
          clock: app.clock,
          runner: testRunner(app.deps),
          workflow: flow(name),
          start: async () => {
            vmId = await arrange()
            before = await look(vmId)
            return act(vmId)
          },
          completed: async (run) => {
            expect(run.error).toBeNull()
            completed(await look(vmId), before)
          },
          failed: async (run) => {
            expect((await findRun(app.db, run.id))!.cleanup_failed).toBe(false)
            const now = await look(vmId)
            if (now.diskGiB === before.diskGiB) expect(now).toEqual(before)
            else completed(now, before)
          },
        },
        { thorough },
      )
    }
    const running = async () => (await app.given.vm(customer)).id
    const stopped = async () => {
      const id = await running()
      await customer.post(`/vms/${id}/stop`)
      await app.settle({ subjectId: id })
      return id
    }
    const post = (path: string, body?: unknown) => async (vmId: string) => {
      const answer = await customer.post(`/vms/${vmId}/${path}`, body)
      expect(answer.status, answer.body.error).toBe(202)
      return answer.body.data.actionId as string
    }

    test('vm.upgrade', { timeout: MINUTES }, async () => {
      await prove('vm.upgrade', running, post('upgrade', { planId: large }), (fixture) =>
        expect(fixture).toMatchObject({
          power: 'running',
          vm: { status: 'RUNNING', vcpu: 4, ram_mib: 8192, disk_gib: 100 },
          volumes: ['disk 1 true', 'seed 1 true'],
          diskGiB: 100,
        }),
      )
    })

    test('vm.rebuild', { timeout: MINUTES }, async () => {
      await prove('vm.rebuild', running, post('rebuild', { osTemplateId: input.osTemplateId, userData: '#!/bin/sh' }), (fixture) =>
        expect(fixture).toMatchObject({
          power: 'running',
          vm: { status: 'RUNNING', generation: 2 },
          volumes: ['disk 2 true', 'seed 2 true'],
          userData: [{ is_due: true }],
        }),
      )
    })

    if (sample) return

    test('vm.start', { timeout: MINUTES }, async () => {
      await prove('vm.start', stopped, post('start'), (fixture) =>
        expect(fixture).toMatchObject({ power: 'running', vm: { status: 'RUNNING' } }),
      )
    })

    test('vm.upgrade of a stopped VM', { timeout: MINUTES }, async () => {
      await prove('vm.upgrade', stopped, post('upgrade', { planId: large }), (fixture) =>
        expect(fixture).toMatchObject({ power: 'stopped', vm: { status: 'STOPPED', vcpu: 4, ram_mib: 8192, disk_gib: 100 }, diskGiB: 100 }),
      )
    })

    // A custom configuration has local storage.
    test.runIf(storage === 'LOCAL')('vm.upgrade of a resize to less RAM', { timeout: MINUTES }, async () => {
      await prove('vm.upgrade', running, post('resize', { customConfig: { vcpu: 1, ram: 512, disk: 25 } }), (fixture, before) => {
        expect(fixture).toMatchObject({ power: 'running', vm: { status: 'RUNNING', vcpu: 1, ram_mib: 512, disk_gib: 25 } })
        expect(Number(fixture.balance)).toBeGreaterThan(Number(before.balance))
      })
    })

    test('vm.upgrade of a resize that grows the disk of a running guest', { timeout: MINUTES }, async () => {
      await prove('vm.upgrade', running, post('resize', { disk: 60 }), (fixture) =>
        expect(fixture).toMatchObject({ power: 'running', vm: { status: 'RUNNING', disk_gib: 60 }, diskGiB: 60 }),
      )
    })

    test.runIf(storage === 'LOCAL')(
      'vm.upgrade of a resize that adds vCPUs, RAM and disk to a running guest',
      { timeout: MINUTES },
      async () => {
        const [small, large4] = [
          { vcpu: 2, ram: 4096, disk: 25 },
          { vcpu: 4, ram: 8192, disk: 40 },
        ]
        let vmId = ''
        let before: { fixture: Fixture; machine: Machine }
        type Machine = { vcpu: number; ram: number; disk: number; epoch: bigint }
        const machine = () =>
          app.db.one<Machine>(sql`
          select vcpu, ram_mib as ram, (select (capacity_bytes >> 30)::int from simulated.volumes v where v.vm_id = m.vm_id and kind = 'disk') as disk, epoch
          from simulated.machines m where vm_id = ${vmId}`)
        const start = async () => {
          vmId = (await app.given.vm(customer, { customConfig: small })).id
          before = { fixture: await look(vmId), machine: await machine() }
          return post('resize', { customConfig: large4 })(vmId)
        }
        const hasGrown = async () => {
          expect(await machine()).toEqual({ ...large4, epoch: before.machine.epoch })
          expect(await look(vmId)).toMatchObject({ power: 'running', vm: { status: 'RUNNING', vcpu: 4, ram_mib: 8192, disk_gib: 40 } })
        }
        // A disk never shrinks: what has grown before the failure is sold, and all of it.
        const failed = async (run: { id: string }): Promise<void> => {
          expect((await findRun(app.db, run.id))!.cleanup_failed).toBe(false)
          if ((await machine()).disk === large4.disk) return hasGrown()
          expect({ fixture: await look(vmId), machine: await machine() }).toEqual(before)
        }
        const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps), workflow: flow('vm.upgrade'), start }
        await testCrashSafety({ ...setup, completed: hasGrown, failed }, { thorough })
      },
    )

    const inRescue = async (from = running) => {
      const id = await from()
      await post('rescue', { password: 'correct horse battery' })(id)
      await app.settle({ subjectId: id })
      return id
    }
    const RESCUED = {
      power: 'running',
      vm: { status: 'RUNNING', generation: 1 },
      rescue: { is_active: true },
      rescueGeneration: 2,
      volumes: ['disk 1 true', 'disk 2 true', 'seed 1 true', 'seed 2 true'],
    }
    const NOT_RESCUED = { rescue: undefined, rescueGeneration: null, volumes: ['disk 1 true', 'seed 1 true'] }

    test.each([
      ['running', running],
      ['stopped', stopped],
    ])('vm.rescue of a VM that is %s', { timeout: MINUTES }, async (_, from) => {
      await prove('vm.rescue', from, post('rescue', { password: 'correct horse battery' }), (fixture) =>
        expect(fixture).toMatchObject(RESCUED),
      )
    })

    test.each(['running', 'stopped'])('vm.unrescue of a VM that is %s', { timeout: MINUTES }, async (power) => {
      const from = async () => {
        const id = await inRescue()
        if (power === 'stopped') await customer.post(`/vms/${id}/stop`)
        await app.settle({ subjectId: id })
        expect(await look(id)).toMatchObject({ rescue: { is_active: true }, rescueGeneration: 2, power })
        return id
      }
      const end = async (vmId: string) => (await customer.delete(`/vms/${vmId}/rescue`)).body.data.actionId as string
      await prove('vm.unrescue', from, end, (fixture, before) => {
        expect(fixture).toMatchObject({ ...NOT_RESCUED, power, vm: before.vm })
        expect(fixture.used).not.toEqual(before.used)
      })
    })

    describe('with an ISO image', async () => {
      const imageId = await givenIso(app, customer)
      const attach = (body: object) => async (vmId: string) => {
        const answer = await customer.put(`/vms/${vmId}/iso`, { imageId, ...body })
        expect(answer.status, answer.body.error).toBe(202)
        return answer.body.data.actionId as string
      }
      const detach = async (vmId: string) => (await customer.delete(`/vms/${vmId}/iso`)).body.data.actionId as string
      const attached = async (from = running, body: object = {}) => {
        const id = await from()
        await attach(body)(id)
        await app.settle({ subjectId: id })
        return id
      }
      await attached() // from then on its room on the host is booked
      const ATTACHED = { iso: { is_attached: true, active: true }, isoId: imageId, power: 'running', vm: { status: 'RUNNING' } }
      const WAITS = { iso: { is_attached: true, active: false }, isoId: null }
      const DETACHED = { iso: undefined, isoId: null }

      test.each([
        ['at the next start', running, {}, WAITS],
        ['with a restart', running, { restart: true }, ATTACHED],
        ['to a VM that is off', stopped, { restart: true }, { ...WAITS, power: 'stopped', vm: { status: 'STOPPED' } }],
      ])('vm.attach_iso %s', { timeout: MINUTES }, async (_, from, body, then) => {
        await prove('vm.attach_iso', from, attach(body), (fixture) => expect(fixture).toMatchObject(then))
      })

      test.each([
        ['that runs with it', () => attached(running, { restart: true }), 'running'],
        ['that does not have it yet', attached, 'running'],
        ['that is off', () => attached(stopped), 'stopped'],
      ])('vm.detach_iso of a VM %s', { timeout: MINUTES }, async (_, from, power) => {
        await prove('vm.detach_iso', from, detach, (fixture) => expect(fixture).toMatchObject({ ...DETACHED, power }))
      })

      test('vm.restart of a VM that gets it by that', { timeout: MINUTES }, async () => {
        await prove('vm.restart', attached, post('restart'), (fixture) => expect(fixture).toMatchObject(ATTACHED))
      })
    })

    test('vm.repair', { timeout: MINUTES }, async () => {
      const driver = await app.deps.hypervisors.get(app.host.id)
      const signal = AbortSignal.timeout(MINUTES)
      let vmId = ''
      const machine = () => driver.findMachine(vmId, signal)
      const left = () => app.db.many(sql`select from stale_machines where vm_id = ${vmId}`)
      const start = async (): Promise<string> => {
        vmId = await running()
        const vm = await getVmRow(app.db, vmId)
        await driver.ensureStopped(vmId, { graceMs: 0 }, signal)
        await driver.ensureRunning({ ...(await machineSpec(app.deps, vm)), vcpu: 4 }, signal)
        return app.db.tx(async (tx) => {
          await recordStaleMachine(tx, app.clock.now(), vmId, app.host.id)
          const options = { label: 'RESTART', ownerId: vm.account_id, subjectId: vmId }
          return app.deps.workflows.start(tx, repairVm, { vmId, isOn: true }, options)
        })
      }
      const isRight = async () => {
        expect([await machine(), await left()]).toMatchObject([{ power: 'running', vcpu: 1 }, []])
        expect((await look(vmId)).vm).toMatchObject({ status: 'RUNNING', vcpu: 1 })
      }
      const isTriedAgain = async () => {
        expect(await left()).toHaveLength(1)
        app.clock.advance('11m')
        await reconcileStaleMachines.runOnce(app.deps)
        await app.settle({ subjectId: vmId })
        await isRight()
      }
      const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps), workflow: repairVm }
      await testCrashSafety({ ...setup, start, completed: isRight, failed: isTriedAgain }, { thorough })
    })
  })
}

/** The machine runs on one of two hosts at any time, and the other has nothing of it in the end. */
export function describeMigrationDurability({ thorough, sample = false, storage = 'LOCAL' }: Extent): void {
  describe(`a migration survives a crash and a failure at any step, on ${storage} storage`, async () => {
    const app = await testApp()
    if (storage === 'REPLICATED') await sellReplicated(app)
    const other = await givenHost(app, 'other')
    await app.db.run(sql`update catalog_values set value = 100000000 where name like 'quota.%'`)
    await app.db.run(sql`update hosts set vcpu_total = 100000, ram_total_mib = 100000000, disk_total_gib = 10000000`)
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '1000000.00' })
    const hosts = [app.host.id, other.id]

    const look = async (vmId: string) => {
      const signal = AbortSignal.timeout(MINUTES)
      const seen = []
      for (const hostId of hosts) {
        const driver = await app.deps.hypervisors.get(hostId)
        const volumes: string[] = []
        for await (const volume of driver.listVolumes(signal)) if (volume.vmId === vmId) volumes.push(`${volume.kind} ${volume.complete}`)
        const power = (await driver.findMachine(vmId, signal))?.power ?? null
        const used = await app.db.one(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts where id = ${hostId}`)
        const stale = await app.db.many(sql`select from stale_machines where vm_id = ${vmId} and host_id = ${hostId}`)
        seen.push({ power, volumes: volumes.toSorted(), used, isStale: stale.length > 0 })
      }
      const vm = await app.db.one<{ host_id: string; status: string }>(sql`select host_id, status from vms where id = ${vmId}`)
      const ports = await app.db.many(sql`select host from simulated.ports where vm_id = ${vmId}`)
      return { seen, vm, ports, file: await readFile(vmId) }
    }
    const readFile = async (vmId: string): Promise<string | null> => {
      const { host_id } = await app.db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)
      return controlOf(app, host_id).drift.readFile(vmId, 'proof')
    }

    const others: [power: string, restarts: boolean][] = [
      ['stopped', false],
      ['running', true],
    ]
    test.each([['running', false] as const, ...(sample ? [] : others)])(
      'of a machine that is %s, and restarted for it: %s',
      { timeout: MINUTES },
      async (power, restarts) => {
        let vmId = ''
        let before: Awaited<ReturnType<typeof look>>
        const start = async (): Promise<string> => {
          vmId = (await placeOn(app, app.host.id, () => app.given.vm(customer))).id
          await controlOf(app, app.host.id).drift.writeFile(vmId, 'proof', vmId)
          if (power === 'stopped') await customer.post(`/vms/${vmId}/stop`)
          await app.settle({ subjectId: vmId })
          before = await look(vmId)
          return (await app.db.tx((tx) => startMigration(tx, app.deps, vmId, { to: 'other', restarts }))).actionId
        }
        const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps), workflow: migrateVm, start }
        const completed = async (): Promise<void> => {
          await applyPorts.runOnce(app.deps) // what optional steps have not done
          await reconcileStaleMachines.runOnce(app.deps)
          for (let looks = 0; restarts && looks < 2; looks++) {
            await syncPowerStates.runOnce(app.deps)
            app.clock.advance('15s')
          }
          const { seen, vm, ports, file } = await look(vmId)
          expect([vm, ports, file]).toEqual([{ ...before.vm, host_id: other.id }, [{ host: 'other' }], vmId])
          expect(seen.map(({ power: now, volumes, isStale }) => ({ now, volumes, isStale }))).toEqual([
            { now: null, volumes: [], isStale: false },
            { now: power, volumes: before.seen[0]!.volumes, isStale: false },
          ])
        }
        const failed = async (run: { id: string }): Promise<void> => {
          expect((await findRun(app.db, run.id))!.cleanup_failed).toBe(false)
          expect(await look(vmId)).toEqual(before)
        }
        await testCrashSafety({ ...setup, completed, failed }, { thorough })
      },
    )
  })
}

/** The machine runs in one size on one of two hosts at any time; what fails after the move leaves it, in its old size, where it is. */
export function describeResizeElsewhereDurability({ thorough }: { thorough: boolean }): void {
  describe('a resize on another host survives a crash and a failure at any step', async () => {
    const app = await testApp()
    const other = await givenHost(app, 'other')
    await app.db.run(sql`update catalog_values set value = 100000000 where name like 'quota.%'`)
    await app.db.run(sql`update hosts set vcpu_total = 100000, disk_total_gib = 1000000`)
    await app.db.run(sql`update address_pools set host_id = null`)
    const customer = await app.given.customer({ credit: '1000000.00' })
    const plans = (await customer.get('/plans')).body.data as { id: string; slug: string }[]
    const medium = plans.find(({ slug }) => slug === 'medium')!.id

    const usedOf = (hostId: string) =>
      app.db.one<{ vcpu: number; ram: number; disk: number }>(
        sql`select vcpu_used as vcpu, ram_used_mib as ram, disk_used_gib as disk from hosts where id = ${hostId}`,
      )
    const look = async (vmId: string) => {
      const vm = await app.db.one<{ host_id: string }>(
        sql`select host_id, status, vcpu, ram_mib, disk_gib, plan_id, period_price_cents from vms where id = ${vmId}`,
      )
      const machines = await app.db.many(sql`select host_id, vcpu, ram_mib, power from simulated.machines where vm_id = ${vmId}`)
      const quotas = await app.db.many(sql`select name, used from account_quotas where account_id = ${customer.accountId} order by name`)
      const balance = (await customer.get('/wallet')).body.data.balance as string
      const { gib } = await app.db.one<{ gib: number }>(
        sql`select (max(capacity_bytes) >> 30)::int as gib from simulated.volumes where vm_id = ${vmId} and kind = 'disk' and host_id = ${vm.host_id}`,
      )
      return { vm, machines, quotas, balance, gib, file: await controlOf(app, vm.host_id).drift.readFile(vmId, 'proof') }
    }
    const rest = async (): Promise<void> => {
      await applyPorts.runOnce(app.deps)
      await reconcileStaleMachines.runOnce(app.deps)
    }

    test.each(['running', 'stopped'])('of a machine that is %s', { timeout: MINUTES }, async (power) => {
      let vmId = ''
      let before: Awaited<ReturnType<typeof look>>
      let used: { vcpu: number; ram: number; disk: number }[] = []
      const start = async (): Promise<string> => {
        await app.db.run(sql`update hosts set ram_total_mib = 10000000`)
        vmId = (await placeOn(app, app.host.id, () => app.given.vm(customer))).id
        await controlOf(app, app.host.id).drift.writeFile(vmId, 'proof', vmId)
        if (power === 'stopped') await customer.post(`/vms/${vmId}/stop`)
        await app.settle({ subjectId: vmId })
        await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib where id = ${app.host.id}`)
        before = await look(vmId)
        used = [await usedOf(app.host.id), await usedOf(other.id)]
        const answer = await customer.post(`/vms/${vmId}/resize`, { planId: medium })
        expect(answer.status, answer.body.error).toBe(202)
        return answer.body.data.actionId as string
      }
      const completed = async (): Promise<void> => {
        await rest()
        const now = await look(vmId)
        expect([now.vm, now.machines, now.file, now.gib]).toMatchObject([
          { host_id: other.id, vcpu: 2, ram_mib: 2048, disk_gib: 50, plan_id: medium },
          [{ host_id: other.id, vcpu: 2, ram_mib: 2048, power }],
          vmId,
          50,
        ])
        expect((await usedOf(other.id)).ram).toBe(used[1]!.ram + 2048)
      }
      const failed = async (run: { id: string }): Promise<void> => {
        expect((await findRun(app.db, run.id))!.cleanup_failed).toBe(false)
        await rest()
        const now = await look(vmId)
        if (now.gib > before.gib) return completed()
        const hostId = now.vm.host_id
        const there = (rows: { host_id?: unknown }[]) => rows.map((row) => ({ ...row, host_id: hostId }))
        expect(now).toEqual({ ...before, vm: { ...before.vm, host_id: hostId }, machines: there(before.machines as object[]) })
        const moved = hostId === other.id ? 1024 : 0
        expect([(await usedOf(app.host.id)).ram, (await usedOf(other.id)).ram]).toEqual([used[0]!.ram - moved, used[1]!.ram + moved])
      }
      const setup = { db: app.db, clock: app.clock, runner: testRunner(app.deps), workflow: resizeElsewhere, start }
      await testCrashSafety({ ...setup, completed, failed }, { thorough })
      await app.checkInvariants()
    })
  })
}
