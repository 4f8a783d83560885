import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { givenHost, givenRegion, placeOn } from '../../../test/hosts.ts'
import { berthd, berthdJson } from '../../../test/processes.ts'
import { getHost } from '../../features/hosts/service.ts'
import { openAuthority } from '../../host-setup/certificate-authority.ts'
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

  test('revokes the certificates of a host that is removed or destroyed, and names who accepts them still', async () => {
    const authority = await openAuthority(app.config.dataDir)
    const hosts = ['stolen', 'gone', 'stays', 'elsewhere']
    await givenRegion(app, 'ber1')
    for (const [i, name] of hosts.entries()) {
      const { id, region_id } = await givenHost(app, name, name === 'elsewhere' ? 'ber1' : 'fra1')
      await app.db.run(sql`update hosts set driver = 'libvirt', uri = ${`qemu+tls://127.0.0.${i + 2}:1/system`} where id = ${id}`)
      await authority.issue(`127.0.0.${i + 2}`)
      await authority.issuePeer(`127.0.0.${i + 2}`, region_id)
      await authority.issueMigration(`127.0.0.${i + 2}`, region_id)
    }
    const still = (names: string) =>
      expect.stringContaining(`are revoked. Hosts that accept them until each has a new bundle: ${names}. For`)
    expect(await berthdJson(settings, 'host', 'recover', 'stolen', '--destroyed', '--yes')).toMatchObject({
      removed: true,
      certificates: still('gone, stays'),
    })
    expect(await berthdJson(settings, 'host', 'remove', 'gone', '--yes')).toMatchObject({
      outcome: 'forgotten',
      certificates: still('stays'),
    })
    expect(await authority.revoke('127.0.0.2')).toBe(0)
    expect((await berthd(settings, 'certificate', 'revoke', 'control-plane', '--yes')).stdout).toEqual(still('elsewhere, stays'))
    const last = await berthd(settings, 'certificate', 'revoke', '127.0.0.4', '--yes')
    expect(last.stdout).toBe('3 certificates of 127.0.0.4 are revoked.\n')
  })
})
