import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { allowManyVms } from '../../../test/snapshot-backup-fixture.ts'
import { sql } from '../../kernel/database/db.ts'
import { getVmRow, machineSpec } from './model/machine-spec.ts'
import { applyPorts } from './reconcilers/apply-ports.reconciler.ts'
import { reconcileStaleMachines } from './reconcilers/stale-machines.reconciler.ts'

const soon = () => AbortSignal.timeout(10_000)

describe('a VM that grows while it runs', async () => {
  const app = await testApp()
  await allowManyVms(app)
  await app.db.run(sql`update address_pools set host_id = null`)
  const other = await givenHost(app, 'other')
  const customer = await app.given.customer({ credit: '100000.00' })
  const controls = [controlOf(app, app.host.id), controlOf(app, other.id)]
  const SIZE = { vcpu: 2, ram: 4096, disk: 20 }
  const LARGER = { vcpu: 4, ram: 8192, disk: 20 }
  const make = async (customConfig = SIZE) => (await placeOn(app, app.host.id, () => app.given.vm(customer, { customConfig }))).id
  const vm = async (id: string) => (await customer.get(`/vms/${id}`)).body.data
  const balance = async () => (await customer.get('/wallet')).body.data.balance as string
  const quotas = () => app.db.many(sql`select name, used from account_quotas where account_id = ${customer.accountId} order by name`)
  const used = () => app.db.many(sql`select vcpu_used, ram_used_mib, disk_used_gib from hosts order by id`)
  /** `epoch` changes with each start. */
  const machine = (id: string) =>
    app.db.one<{ vcpu: number; ram: number; epoch: bigint; power: string; room_vcpu: number; host_id: string }>(
      sql`select vcpu, ram_mib as ram, epoch, power, room_vcpu, host_id from simulated.machines where vm_id = ${id}`,
    )
  const driverOf = async (id: string) => app.deps.hypervisors.get((await getVmRow(app.db, id)).host_id!)
  const quote = async (id: string, customConfig: object) => {
    const { status, body } = await customer.post(`/vms/${id}/resize?dryRun=true`, { customConfig })
    expect(status, body.error).toBe(200)
    return body.data
  }
  const resize = async (id: string, customConfig: object, verb = 'resize') => {
    const { status, body } = await customer.post(`/vms/${id}/${verb}`, { customConfig })
    expect(status, body.error).toBe(202)
    await app.settle({ subjectId: id })
    await applyPorts.runOnce(app.deps)
    await reconcileStaleMachines.runOnce(app.deps)
    await app.checkInvariants()
    return (await customer.get(`/vms/${id}/actions/${body.data.actionId}`)).body.data
  }
  /** As a worker leaves it that is killed after the host has done it. */
  const growMachine = async (id: string, { vcpu, ram }: typeof SIZE) => {
    const spec = { ...(await machineSpec(app.deps, await getVmRow(app.db, id))), vcpu, ramMiB: ram }
    await (await driverOf(id)).ensureLiveSize(spec, soon())
  }

  test.each(['resize', 'upgrade'])('gets vCPUs and RAM without a restart, which the dry run says, by %s', async (verb) => {
    const id = await make()
    const before = await machine(id)
    expect(before).toMatchObject({ vcpu: 2, ram: 4096, room_vcpu: 8 })
    const quoted = await quote(id, LARGER)
    expect(quoted).toMatchObject({ restarts: false })
    expect(await machine(id)).toEqual(before)
    expect(await resize(id, LARGER, verb)).toMatchObject({ status: 'COMPLETED', error: null })
    expect(await machine(id)).toEqual({ ...before, vcpu: 4, ram: 8192 })
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', statusReason: null, vcpu: 4, ram: 8192 })
    expect(await balance()).toBe(quoted.balanceAfter)
    // More, and the disk with it.
    expect(await resize(id, { vcpu: 8, ram: 16_384, disk: 40 })).toMatchObject({ status: 'COMPLETED' })
    expect(await machine(id)).toEqual({ ...before, vcpu: 8, ram: 16_384 })
  })

  test.each([
    ['vCPUs alone, of little RAM', { vcpu: 1, ram: 1024, disk: 20 }, { vcpu: 4, ram: 1024, disk: 20 }, false],
    ['RAM alone', SIZE, { ...SIZE, ram: 16_384 }, false],
    ['RAM, where it has little', { vcpu: 1, ram: 1024, disk: 20 }, { vcpu: 1, ram: 2048, disk: 20 }, true],
    ['more vCPUs than there is room for', SIZE, { ...SIZE, vcpu: 9 }, true],
    ['more RAM than there is room for', SIZE, { ...SIZE, ram: 16_640 }, true],
    ['more of one and less of the other', SIZE, { ...SIZE, vcpu: 1, ram: 8192 }, true],
    ['less', SIZE, { ...SIZE, vcpu: 1 }, true],
  ])('of %s', async (_what, from, to, restarts) => {
    const id = await make(from)
    const { epoch } = await machine(id)
    expect(await quote(id, to)).toMatchObject({ restarts })
    expect(await resize(id, to)).toMatchObject({ status: 'COMPLETED' })
    const now = await machine(id)
    expect(now).toMatchObject({ vcpu: to.vcpu, ram: to.ram, power: 'running' })
    expect(now.epoch !== epoch).toBe(restarts)
  })

  test('is restarted where its guest has no agent, or one that has not answered, or its host gave it no room', async () => {
    const id = await make()
    await app.db.run(sql`update vms set readiness = 'booting' where id = ${id}`)
    expect(await quote(id, LARGER)).toMatchObject({ restarts: true })
    await app.db.run(sql`update vms set readiness = 'reachable' where id = ${id}`)
    await app.db.run(sql`update os_templates set has_agent = false`)
    expect(await quote(id, LARGER)).toMatchObject({ restarts: true })
    await app.db.run(sql`update os_templates set has_agent = true`)
    expect(await quote(id, LARGER)).toMatchObject({ restarts: false })
    await app.db.run(sql`update vms set room_vcpu = null, room_ram_mib = null where id = ${id}`)
    expect(await quote(id, LARGER)).toMatchObject({ restarts: true })
  })

  test('is restarted, as the dry run says, when it got RAM as often as it has slots; then it has them anew', async () => {
    const id = await make()
    const { epoch } = await machine(id)
    const growBy = (times: number) => ({ ...SIZE, ram: SIZE.ram + times * 256 })
    for (let times = 1; times <= 16; times++) expect(await resize(id, growBy(times))).toMatchObject({ status: 'COMPLETED' })
    expect(await machine(id)).toMatchObject({ ram: 8192, epoch })
    expect(await quote(id, { ...growBy(16), vcpu: 3 })).toMatchObject({ restarts: false })
    expect(await quote(id, growBy(17))).toMatchObject({ restarts: true })
    expect(await resize(id, growBy(17))).toMatchObject({ status: 'COMPLETED', error: null })
    const restarted = await machine(id)
    expect([restarted.ram, restarted.power, restarted.epoch === epoch]).toEqual([8448, 'running', false])
    expect(await quote(id, growBy(18))).toMatchObject({ restarts: false })
  })

  test('has a slot again when its RAM was taken back', async () => {
    const id = await make()
    const growBy = (times: number) => ({ ...SIZE, ram: SIZE.ram + times * 256 })
    for (let times = 1; times <= 15; times++) await resize(id, growBy(times))
    await controls[0]!.faults.plant({ verb: 'ensureDefined', kind: 'permanent', times: 1 })
    expect(await resize(id, growBy(16))).toMatchObject({ status: 'FAILED' })
    expect(await quote(id, growBy(16))).toMatchObject({ restarts: false })
    expect(await resize(id, growBy(16))).toMatchObject({ status: 'COMPLETED' })
    expect(await quote(id, growBy(17))).toMatchObject({ restarts: true })
  })

  test('has new room after each start', async () => {
    const id = await make()
    await resize(id, { ...SIZE, vcpu: 8 })
    expect(await quote(id, { ...SIZE, vcpu: 9 })).toMatchObject({ restarts: true })
    await customer.post(`/vms/${id}/stop`)
    await app.settle({ subjectId: id })
    await customer.post(`/vms/${id}/start`)
    await app.settle({ subjectId: id })
    expect(await machine(id)).toMatchObject({ vcpu: 8, room_vcpu: 32 })
    expect(await quote(id, { ...SIZE, vcpu: 32 })).toMatchObject({ restarts: false })
  })

  test('gets nothing, and its money back, while its agent is silent; the action says what to do', async () => {
    const id = await make()
    const before = [await machine(id), await balance(), await quotas(), await used()]
    await controls[0]!.drift.hangGuest(id)
    const action = await resize(id, LARGER)
    expect(action).toMatchObject({ status: 'FAILED', error: expect.stringContaining('Stop it, resize it, and start it') })
    expect([await machine(id), await balance(), await quotas(), await used()]).toEqual(before)
    expect(await vm(id)).toMatchObject({
      status: 'RUNNING',
      vcpu: 2,
      ram: 4096,
      statusReason: expect.stringContaining('The guest agent does not answer'),
    })
  })

  test('gives back what it got when the rest fails', async () => {
    const id = await make()
    const before = [await machine(id), await balance(), await quotas(), await used()]
    await controls[0]!.faults.plant({ verb: 'ensureDefined', kind: 'permanent', times: 1 })
    expect(await resize(id, { ...LARGER, disk: 40 })).toMatchObject({ status: 'FAILED' })
    expect([await machine(id), await balance(), await quotas(), await used()]).toEqual(before)
    expect(await vm(id)).toMatchObject({ status: 'RUNNING', vcpu: 2, ram: 4096, disk: 20 })
    await controls[0]!.faults.plant({ verb: 'ensureLiveSize', kind: 'permanent', times: 1 })
    expect(await resize(id, LARGER)).toMatchObject({ status: 'FAILED' })
    expect([await machine(id), await balance(), await quotas(), await used()]).toEqual(before)
  })

  test('has what it got, and pays for it, where its guest does not use it', async () => {
    const id = await make()
    const { epoch } = await machine(id)
    const { balanceAfter } = await quote(id, LARGER)
    await growMachine(id, LARGER)
    await controls[0]!.drift.hangGuest(id)
    expect(await resize(id, LARGER)).toMatchObject({ status: 'COMPLETED' })
    expect(await machine(id)).toMatchObject({ vcpu: 4, ram: 8192, epoch })
    expect(await vm(id)).toMatchObject({
      status: 'RUNNING',
      vcpu: 4,
      statusReason: expect.stringMatching(/^It has its new size, but .*: restart it/),
    })
    expect(await balance()).toBe(balanceAfter)
  })

  test('has all of it, and pays for it, where its guest does not give it back when the rest fails', async () => {
    const id = await make()
    const { epoch } = await machine(id)
    const { balanceAfter } = await quote(id, LARGER)
    await growMachine(id, LARGER)
    await controls[0]!.drift.hangGuest(id)
    await controls[0]!.faults.plant({ verb: 'ensureDefined', kind: 'permanent', times: 1 })
    await resize(id, LARGER)
    expect(await machine(id)).toMatchObject({ vcpu: 4, ram: 8192, epoch })
    expect([(await vm(id)).vcpu, await balance()]).toEqual([4, balanceAfter])
  })

  test('moves first where its host is full, and is not restarted there either', async () => {
    const id = await make()
    const before = await machine(id)
    const totals = await app.db.many<{ id: string; ram: number }>(sql`select id, ram_total_mib as ram from hosts`)
    await app.db.run(sql`update hosts set ram_total_mib = ram_used_mib where id = ${app.host.id}`)
    expect(await quote(id, LARGER)).toMatchObject({ restarts: false })
    expect(await resize(id, LARGER)).toMatchObject({ status: 'COMPLETED' })
    for (const host of totals) await app.db.run(sql`update hosts set ram_total_mib = ${host.ram} where id = ${host.id}`)
    expect(await machine(id)).toMatchObject({ vcpu: 4, ram: 8192, epoch: before.epoch, room_vcpu: 8, host_id: other.id })
    expect(await quote(id, { ...LARGER, vcpu: 8 })).toMatchObject({ restarts: false })
  })
})
