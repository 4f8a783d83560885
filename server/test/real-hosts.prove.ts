// Two real hosts over TLS, one of which is unreachable for a while: its actions wait or fail with a reason, nothing happens twice or on the
// other host, which is not affected.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { describeIf } from '../../libvirt/test/describe-if.ts'
import { sleep, stopwatch } from '../src/kernel/clock.ts'
import { sql } from '../src/kernel/database/db.ts'
import { clientOf, fleet } from './fleet.ts'
import { missingForLibvirtHost } from './libvirt-host.ts'
import { berthdJson, eventually } from './processes.ts'
import { tinyImage } from './tiny-image.ts'
import { tlsHosts, type TlsHost } from './tls-hosts.ts'

const AWAY_MS = 90_000
/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 240_000

describeIf(missingForLibvirtHost())('two hosts', { timeout: 3 * TIMEOUT_MS }, async () => {
  const { settings, db, start, account, ended, broken } = await fleet()
  let sandboxes: Sandboxes
  let hosts: [TlsHost, TlsHost]
  let customer: ReturnType<typeof clientOf>

  beforeAll(async () => {
    const image = await tinyImage()
    sandboxes = await Sandboxes.open()
    await berthdJson(settings, 'host', 'remove', 'local', '--yes')
    await berthdJson(settings, 'template', 'import', 'tiny', '--file', image.path)
    hosts = (await tlsHosts(sandboxes, settings, ['left', 'right'])) as [TlsHost, TlsHost]
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    await start('worker')
    customer = clientOf(token, () => api)
  }, TIMEOUT_MS)
  afterAll(() => sandboxes?.close())

  interface Action {
    id: string
    vmId: string
    status: string
    error: string | null
    steps: { name: string; status: string }[]
  }

  const get = async <T>(path: string): Promise<T> => (await customer.send('GET', path)).data as T
  const actionOf = ({ vmId, id }: Pick<Action, 'vmId' | 'id'>): Promise<Action> => get(`/vms/${vmId}/actions/${id}`)
  const hasEnded = ({ status }: Action): boolean => ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status)

  const isBegun = ({ steps }: Action, step: string): boolean => steps.some(({ name, status }) => name === step && status !== 'PENDING')
  const isCleanEnd = ({ status, error }: Action): boolean =>
    status === 'COMPLETED' || (status === 'FAILED' && /is unreachable|did not say|took too long/.test(error ?? ''))

  async function order(method: string, path: string, body?: object): Promise<Action> {
    const { status, error, data } = await customer.send(method, path, body)
    expect([status, error]).toEqual([202, undefined])
    return actionOf({ vmId: data.vm?.id ?? path.split('/')[2]!, id: data.actionId })
  }

  async function create(hostname: string, more: object = {}): Promise<Action> {
    const ids = await db.one<object>(sql`
      select (select id from regions) as "regionId", (select id from os_templates where slug = 'tiny') as "osTemplateId",
        (select id from plans where slug = 'nano') as "planId"`)
    return order('POST', '/vms', { ...ids, hostname, ...more })
  }

  const end = (action: Action): Promise<Action> =>
    eventually(async () => {
      const now = await actionOf(action)
      return hasEnded(now) && now
    }, TIMEOUT_MS)

  const completed = async (action: Action): Promise<string> => {
    expect(await end(action)).toMatchObject({ status: 'COMPLETED', error: null })
    return action.vmId
  }

  const hostOf = async (vmId: string): Promise<TlsHost> => {
    const { host_id } = await db.one<{ host_id: string }>(sql`select host_id from vms where id = ${vmId}`)
    return hosts.find(({ id }) => id === host_id)!
  }
  const machinesOn = async ({ sandbox }: TlsHost, ...flags: string[]): Promise<string[]> =>
    (await sandbox.virsh('list', '--name', ...flags)).split('\n').filter((name) => name !== '')
  const processOf = ({ sandbox }: TlsHost, vmId: string): Promise<string> => sandbox.inside('pgrep', '-f', `guest=berth-${vmId}`)

  /** The database matches the hosts, and no VM is on two hosts. */
  async function expectEachOnce(): Promise<void> {
    const rows = await db.many<{ id: string; host_id: string; status: string }>(
      sql`select id, host_id, status from vms where host_id is not null`,
    )
    for (const host of hosts) {
      const own = rows.filter(({ host_id, status }) => host_id === host.id && status !== 'ERROR')
      expect((await machinesOn(host, '--all')).toSorted()).toEqual(own.map(({ id }) => `berth-${id}`).toSorted())
      const on = own.filter(({ status }) => status === 'RUNNING')
      expect((await machinesOn(host)).toSorted()).toEqual(on.map(({ id }) => `berth-${id}`).toSorted())
    }
  }

  test('both get VMs, and an unreachable one does not affect the other', async () => {
    const group = await customer.send('POST', '/placement-groups', { name: 'apart', policy: 'STRICT_SPREAD' })
    const apart = { placementGroupId: group.data.id }
    const both = await Promise.all([create('first', apart).then(completed), create('second', apart).then(completed)])
    expect(new Set(await Promise.all(both.map(hostOf)))).toEqual(new Set(hosts))

    // A third VM is being created when its host becomes unreachable.
    const made = await create('third')
    const away = await hostOf(made.vmId)
    const [neighbour, bystander] = (await hostOf(both[0])) === away ? both : both.toReversed()
    const guest = await processOf(away, neighbour!)
    await eventually(async () => isBegun(await actionOf(made), 'disk'), TIMEOUT_MS)
    await away.cutOff()
    const awayMs = stopwatch()
    const restart = await order('POST', `/vms/${neighbour}/restart`)
    await eventually(() => db.maybe(sql`select from hosts where id = ${away.id} and unreachable_since is not null`), AWAY_MS)

    const fourth = await create('fourth')
    expect(await hostOf(fourth.vmId)).not.toBe(away)
    await completed(fourth)
    await completed(await order('POST', `/vms/${bystander}/stop`))
    await completed(await order('POST', `/vms/${bystander}/start`))
    await sleep(Math.max(0, AWAY_MS - awayMs()))
    expect(await processOf(away, neighbour!)).toBe(guest)

    await away.reconnect()
    await ended(TIMEOUT_MS)
    for (const action of [await actionOf(made), await actionOf(restart)]) expect(action).toSatisfy(isCleanEnd)
    await expectEachOnce()
    expect(await broken()).toBe('')
    await completed(await order('POST', `/vms/${neighbour}/stop`))
  })
})
