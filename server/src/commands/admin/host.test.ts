import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost, placeOn } from '../../../test/hosts.ts'
import { berthd, berthdJson } from '../../../test/processes.ts'
import { getHost } from '../../features/hosts/service.ts'
import { sql } from '../../kernel/database/db.ts'

const app = await testApp()
const settings = { BERTH_DATABASE_URL: app.db.url, BERTH_DATA_DIR: app.config.dataDir, BERTH_PORT: '0' }

describe('berthd host', { timeout: 120_000 }, () => {
  test('removes a host with VMs only with --unmanage', async () => {
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await app.given.vm(customer)
    await givenHost(app, 'rack1')
    const refused = await berthd(settings, 'host', 'remove', 'local', '--yes')
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('Host local has 1 VMs, 0 private networks, 0 backups and 0 volumes'),
    ])
    expect(await berthdJson(settings, 'host', 'remove', 'rack1', '--yes')).toMatchObject({ outcome: 'forgotten' })
    expect(await berthdJson(settings, 'host', 'remove', 'local', '--yes', '--unmanage')).toMatchObject({ outcome: 'kept', vms: 1 })
    expect((await customer.get(`/vms/${id}`)).body.data.status).toBe('UNMANAGED')
    const refusedVm = await customer.post('/vms', { ...(await app.given.vmInput()), hostname: 'web-2' })
    expect([refusedVm.status, refusedVm.body.error]).toEqual([503, expect.stringContaining('0 hosts checked')])
  })

  test('plans the recovery of a host, and recovers none without a statement or while it answers', async () => {
    await app.db.run(sql`update address_pools set host_id = null`)
    await givenHost(app, 'rack2')
    const customer = await app.given.customer({ credit: '100.00' })
    const { id } = await placeOn(app, (await getHost(app.db, 'rack2')).id, () => app.given.vm(customer))
    const plan = await berthdJson<object>(settings, 'host', 'recover', 'rack2', '--dry-run')
    expect(plan).toMatchObject({ answers: true, vms: [{ id, outcome: 'LOST', backup: null }], volumes: [] })
    const refused = await Promise.all([
      berthd(settings, 'host', 'recover', 'rack2'),
      berthd(settings, 'host', 'recover', 'rack2', '--destroyed'),
      berthd(settings, 'host', 'recover', 'rack2', '--destroyed', '--yes'),
      berthd(settings, 'host', 'recover', 'rack2', '--dry-run', '--to', 'rack2'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 1, 2])
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('add --destroyed'),
      expect.stringContaining('add --yes to confirm'),
      expect.stringContaining('Host rack2 answers'),
      expect.stringContaining('another host of the same region'),
    ])
    expect(await getHost(app.db, 'rack2')).toMatchObject({ lost_at: null })
  })

  test('reports hosts that cannot be added or changed', async () => {
    const refused = await Promise.all([
      berthd(settings, 'host', 'add', 'https://example.com'),
      berthd(settings, 'host', 'add', 'qemu+tls://127.0.0.1:1/system'),
      berthd(settings, 'host', 'set', 'local', '--maintenance', 'perhaps'),
      berthd(settings, 'host', 'set', 'nowhere', '--maintenance', 'on'),
      berthd(settings, 'host', 'prepare', '--certificate', '/nowhere'),
    ])
    expect(refused.map(({ code }) => code)).toEqual([2, 1, 2, 1, 1])
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('is no address of a libvirt host'),
      expect.stringContaining('npx berthd host certificate'),
      '--maintenance is on or off\n',
      'Host not found\n',
      expect.stringContaining('/nowhere cannot be read'),
    ])
  })
})
