// Six real guests leave a real host while they run, and none of them is stopped; one that is on its way is called back.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet } from './fleet.ts'
import { GuestShell } from './guest-shell.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthd, berthdJson, eventually } from './processes.ts'
import { tinyImage } from './tiny-image.ts'
import { addRegionRange, tlsHosts, type TlsHost } from './tls-hosts.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 300_000
const GUESTS = 6

interface Plan {
  moves: { vmId: string; to: string; seconds: number }[]
  stays: unknown[]
  seconds: number
  factor: number
}

describeIf(missingForLibvirtHost())('a host that is drained', { timeout: 4 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  let sandboxes: Sandboxes
  let hosts: [TlsHost, TlsHost]
  let shells: Map<string, GuestShell>
  let guests: string[]

  const hostOf = async (vmId: string) => (await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)).host_id
  const bootOf = async (vmId: string): Promise<string> =>
    (await shells.get(await hostOf(vmId))!.run(vmId, 'cat /proc/sys/kernel/random/boot_id')).output.trim()
  const boots = async (): Promise<string[]> => {
    const ids: string[] = []
    for (const guest of guests) ids.push(await bootOf(guest))
    return ids
  }
  const statusOf = (actionId: string) => db.one<{ status: string }>(sql`select status from workflow_runs where id = ${actionId}`)
  const ended = (actionId: string): Promise<string> =>
    eventually(async () => {
      const { status } = await statusOf(actionId)
      return !['PENDING', 'RUNNING'].includes(status) && status
    }, TIMEOUT_MS)
  const expectNothingOn = async ({ sandbox }: TlsHost, vmIds: string[]): Promise<void> => {
    const seen = `${await sandbox.virsh('list', '--all', '--name')}${await sandbox.inside('ls', '/var/lib/libvirt/images/berth')}`
    expect(vmIds.filter((id) => seen.includes(id))).toEqual([])
  }

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts = (await tlsHosts(sandboxes, settings, ['left', 'right'])) as [TlsHost, TlsHost]
    await addRegionRange(settings, db, '10.91.0.0/24', '10.91.0.1')
    await db.run(sql`update hosts set vcpu_overcommit = 16, ram_total_mib = 65536 where name in ('left', 'right')`)
    shells = new Map(hosts.map(({ id, sandbox }) => [id, new GuestShell(sandboxes.unix(sandbox), TIMEOUT_MS)]))
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    await start('worker')
    const customer = clientOf(token, () => api)
    const ids = await db.one<{ regionId: string }>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'on')
    const made: string[] = []
    for (let i = 0; i < GUESTS; i++) {
      const { error, data } = await customer.send('POST', '/vms', { ...ids, hostname: `guest-${i}` })
      if (error !== undefined) throw new Error(error)
      if ((await ended(data.actionId)) !== 'COMPLETED') throw new Error(`guest-${i} was not created`)
      made.push(data.vm.id)
    }
    guests = made
    await berthdJson(settings, 'host', 'set', 'right', '--maintenance', 'off')
  }, 4 * TIMEOUT_MS)
  afterAll(async () => {
    for (const shell of shells?.values() ?? []) await shell.close()
    await sandboxes?.close()
  })

  test('keeps a guest that is called back on its way', async () => {
    const [, right] = hosts
    const [guest] = guests as [string]
    const before = await bootOf(guest)
    const { actionId } = await berthdJson<{ actionId: string }>(settings, 'vm', 'migrate', guest, '--bandwidth', '1')
    const isMoving = () => db.maybe(sql`select from workflow_steps where run_id = ${actionId} and name = 'move' and status = 'RUNNING'`)
    await eventually(isMoving, TIMEOUT_MS)
    await eventually(async () => (await right.sandbox.virsh('list', '--all', '--name')).includes(guest), TIMEOUT_MS)
    const elapsedMs = stopwatch()
    await berthdJson(settings, 'vm', 'migrate', guest, '--cancel')
    expect(await ended(actionId)).toBe('CANCELLED')
    console.log(`called back in ${(elapsedMs() / 1000).toFixed(1)} s`)
    expect([await hostOf(guest), await bootOf(guest)]).toEqual([hosts[0].id, before])
    await expectNothingOn(right, [guest])
    expect(await broken()).toBe('')
  })

  test('has none of its six guests stopped, in the time that was said before', async () => {
    const [left, right] = hosts
    const before = await boots()
    const [first] = guests as [string]
    const preview = () => berthdJson<Plan>(settings, 'host', 'drain', 'left', '--dry-run')
    console.log(`estimated without any measurement: ${(await preview()).seconds.toFixed(1)} s`)
    for (const to of ['right', 'left'])
      expect(await ended((await berthdJson(settings, 'vm', 'migrate', first, '--to', to))['actionId']!)).toBe('COMPLETED')
    const plan = await preview()
    expect([plan.moves.length, plan.stays]).toEqual([GUESTS, []])
    const elapsedMs = stopwatch()
    const outcome = await berthd(settings, 'host', 'drain', 'left')
    const seconds = elapsedMs() / 1000
    console.log(outcome.stdout)
    console.log(`estimated ${plan.seconds.toFixed(1)} s by a factor of ${plan.factor.toFixed(2)}, took ${seconds.toFixed(1)} s`)
    expect([outcome.code, outcome.stderr]).toEqual([0, ''])
    expect(outcome.stdout).toContain(`${GUESTS} of ${GUESTS} VMs moved`)
    expect(await boots()).toEqual(before)
    for (const guest of guests) expect(await hostOf(guest)).toBe(right.id)
    await expectNothingOn(left, guests)
    expect(plan.seconds / seconds).toBeGreaterThan(0.5)
    expect(plan.seconds / seconds).toBeLessThan(2)
    expect(await broken()).toBe('')
  })
})
