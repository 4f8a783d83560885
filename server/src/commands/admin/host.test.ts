import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../../test/harness.ts'
import { createAuthority } from '../../../../libvirt/test/certificates.ts'
import { controlOf, givenHost, givenRegion, placeOn } from '../../../test/hosts.ts'
import { quickBerthd as berthd, quickBerthdJson as berthdJson } from '../../../test/processes.ts'
import { redfishServer } from '../../../test/redfish-server.ts'
import { getHost } from '../../features/hosts/service.ts'
import { uuidOf } from '../../hypervisor/simulated/monitoring.ts'
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
      expect.stringContaining('Host local has 1 VM, 0 private networks, 0 backups and 0 volumes'),
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
    expect((await berthd(settings, 'host', 'recoveries')).stdout).toContain('No VM of a lost host waits to be started elsewhere')
    const nextAttemptAt = app.clock.now()
    await app.db.run(
      sql`insert into failed_recoveries (vm_id, source_id, failures, next_attempt_at) values (${id}, ${app.host.id}, 3, ${nextAttemptAt})`,
    )
    expect(await berthdJson(settings, 'host', 'recoveries')).toMatchObject([
      {
        vmId: id,
        from: 'local',
        host: 'rack2',
        failures: 3,
        nextAttempt: nextAttemptAt.toISOString(),
        actionId: null,
        problem: 'cancelled',
      },
    ])
    await app.db.run(sql`delete from failed_recoveries`)
    expect(refused.map(({ code }) => code)).toEqual([2, 2, 1, 2])
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('add --destroyed'),
      expect.stringContaining('add --yes to confirm'),
      expect.stringContaining('Host rack2 answers'),
      expect.stringContaining('another host of the same region'),
    ])
    expect(await getHost(app.db, 'rack2')).toMatchObject({ lost_at: null })
  })

  test('simulates the loss of a simulated host', async () => {
    const host = await givenHost(app, 'rack9')
    const isGone = async () =>
      (await app.db.one<{ is_gone: boolean }>(sql`select is_gone from simulated.hosts where host_id = ${host.id}`)).is_gone
    expect((await berthd(settings, 'host', 'set', 'rack9', '--simulate-loss', 'on')).stdout).toContain('--simulate-loss off')
    expect(await isGone()).toBe(true)
    expect((await berthd(settings, 'host', 'set', 'rack9', '--simulate-loss', 'maybe')).code).toBe(2)
    await berthdJson(settings, 'host', 'set', 'rack9', '--simulate-loss', 'off')
    expect(await isGone()).toBe(false)
    await app.db.run(sql`update hosts set driver = 'libvirt' where id = ${host.id}`)
    expect((await berthd(settings, 'host', 'set', 'rack9', '--simulate-loss', 'on')).stderr).toContain('rack9 is a real host')
    await app.db.run(sql`update hosts set driver = 'simulated' where id = ${host.id}`)
  })

  test('keeps the power controller of a host only if that answers, and its password sealed', async () => {
    const card = await redfishServer()
    card.uuid = uuidOf((await givenHost(app, 'rack3')).id)
    const [right, wrong] = [join(app.config.dataDir, 'right'), join(app.config.dataDir, 'wrong')]
    await writeFile(right, `${card.password}\n`)
    await writeFile(wrong, 'guess')
    const set = (...args: string[]) => berthd(settings, 'host', 'set-power', 'rack3', ...args)
    const refused = await Promise.all([
      set('--redfish', card.url, '--user', card.user, '--password-file', wrong),
      set('--redfish', 'ftp://10.0.0.1', '--user', card.user, '--password-file', right),
      set('--redfish', card.url),
      set('--redfish', card.url.replace('127.0.0.1', '127.0.0.1.nip.invalid'), '--user', card.user, '--password-file', right),
    ])
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 2, 1])
    expect(refused[3]!.stderr).toContain('must begin with https: over http everybody on the way could read the password')
    expect(refused[0]!.stderr).toContain('Nothing was changed')
    expect(await getHost(app.db, 'rack3')).toMatchObject({ power_url: null, sealed_power_password: null })
    const stored = await berthdJson(
      settings,
      'host',
      'set-power',
      'rack3',
      '--redfish',
      card.url,
      '--user',
      card.user,
      '--password-file',
      right,
    )
    expect([stored, JSON.stringify(stored).includes(card.password)]).toEqual([
      expect.objectContaining({ power: 'On', user: 'berth', systemUuid: card.uuid }),
      false,
    ])
    expect((await getHost(app.db, 'rack3')).sealed_power_password!.includes(card.password)).toBe(false)
    expect(await berthdJson(settings, 'host', 'set-power', 'rack3', '--none')).toMatchObject({ redfish: null })
    const answering = await berthd(settings, 'host', 'fence', 'rack3', '--yes')
    expect([answering.code, answering.stderr]).toEqual([1, expect.stringContaining('Host rack3 answers')])
    const [listed] = await berthdJson<{ paths: object[]; power: null }[]>(settings, 'host', 'list')
    expect([listed!.power, listed!.paths]).toEqual([null, [expect.objectContaining({ path: 'LIBVIRT', problem: null })]])
    expect(await berthdJson(settings, 'region', 'set', 'fra1', '--lost-after', '30', '--auto-recovery', 'true')).toMatchObject({
      lostAfter: 30,
      autoRecovery: true,
    })
    expect((await berthd(settings, 'region', 'set', 'fra1', '--lost-after', '5')).stderr).toContain('10 to 3600')
  })

  test('keeps a power controller only of the host itself, and only with a certificate that is trusted', async () => {
    const authority = await createAuthority(app.config.dataDir)
    const card = await redfishServer(undefined, await authority.issue('card', []))
    const { id } = await givenHost(app, 'rack4')
    await givenHost(app, 'rack5')
    const password = join(app.config.dataDir, 'password of the card')
    await writeFile(password, card.password)
    const setOn = (host: string, ...args: string[]) =>
      berthd(settings, 'host', 'set-power', host, '--redfish', card.url, '--user', card.user, '--password-file', password, ...args)
    const set = (...args: string[]) => setOn('rack4', ...args)
    const untrusted = await set()
    const fingerprint = /--fingerprint ([0-9A-F:]{95});/.exec(untrusted.stderr)?.[1] ?? ''
    expect([untrusted.code, untrusted.stderr, card.requests]).toEqual([1, expect.stringContaining('certificate is not trusted'), 0])
    const refused = await Promise.all([
      set(
        '--fingerprint',
        fingerprint.replace(/^../, (two) => (two === '00' ? '01' : '00')),
      ),
      set('--fingerprint', 'AB:CD'),
      set('--fingerprint', fingerprint, '--ca-file', password),
      set('--ca-file', password),
      set('--fingerprint', fingerprint),
      set('--fingerprint', fingerprint, '--system-uuid', 'rack4'),
      set('--fingerprint', fingerprint, '--system-uuid', uuidOf(id)),
    ])
    expect(refused.map(({ code }) => code)).toEqual([1, 2, 2, 1, 1, 1, 1])
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining(`nothing was changed: its SHA-256 fingerprint is ${fingerprint}`),
      expect.stringContaining('64 hexadecimal digits'),
      expect.stringContaining('--ca-file or --fingerprint'),
      expect.stringContaining('must be in PEM'),
      expect.stringContaining(
        `The system of the card is ${card.uuid}, but rack4 is ${uuidOf(id)}: it would switch off another machine. If it is the right one all the same, say so: --system-uuid ${card.uuid}`,
      ),
      expect.stringContaining('must be a UUID'),
      expect.stringContaining(`The system of the card is ${card.uuid}, not ${uuidOf(id)}`),
    ])
    expect(await getHost(app.db, 'rack4')).toMatchObject({ power_url: null, power_ca: null, power_system_uuid: null })
    const meant = await set('--fingerprint', fingerprint.replaceAll(':', '').toLowerCase(), '--system-uuid', card.uuid)
    expect([meant.code, meant.stdout]).toEqual([0, `Host rack4, system ${card.uuid}, is On, says ${card.url}.\n`])
    expect(await getHost(app.db, 'rack4')).toMatchObject({
      power_ca: expect.stringContaining('BEGIN CERTIFICATE'),
      power_system_uuid: card.uuid,
    })
    const twice = await setOn('rack5', '--fingerprint', fingerprint, '--system-uuid', card.uuid)
    expect([twice.code, twice.stderr]).toEqual([1, `The system ${card.uuid} is that of host rack4\n`])
    await controlOf(app, (await getHost(app.db, 'rack5')).id).faults.loseHost()
    card.uuid = uuidOf((await getHost(app.db, 'rack5')).id)
    const silent = await setOn('rack5', '--fingerprint', fingerprint)
    expect([silent.code, silent.stderr]).toEqual([
      1,
      expect.stringMatching(new RegExp(`but rack5 does not say which it is \\(.+\\).*--system-uuid ${card.uuid}`)),
    ])
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
      'Host not found: npx berthd host list shows them\n',
      expect.stringContaining('/nowhere cannot be read'),
    ])
  })

  test('revokes the certificates of a host that is removed or destroyed, and names who accepts them still', async () => {
    const authority = await openAuthority(app.deps)
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

describe('berthd host drain and fleet balance', { timeout: 120_000 }, async () => {
  const drained = await testApp()
  const own = { BERTH_DATABASE_URL: drained.db.url, BERTH_DATA_DIR: drained.config.dataDir, BERTH_PORT: '0' }
  await drained.db.run(sql`update address_pools set host_id = null`)
  const customer = await drained.given.customer({ credit: '1000.00' })
  const rack = await givenHost(drained, 'rack1')
  const { id } = await placeOn(drained, drained.host.id, () => drained.given.vm(customer))

  test('plans, refuses, starts, shows and cancels', async () => {
    const plan = await berthd(own, 'host', 'drain', 'local', '--dry-run')
    expect(plan.stdout).toMatch(new RegExp(`${id} .* rack1 .*1 VM can move, 0 wait for something, 0 cannot. All together takes about`, 's'))
    expect((await berthd(own, 'host', 'drain', 'local', '--status')).stdout).toBe('Host local was never drained\n')
    expect(plan.stdout).not.toContain('×')
    await drained.db.run(sql`update hosts set maintenance = true where id = ${rack.id}`)
    const nothing = await berthd(own, 'host', 'drain', 'local', '--dry-run')
    expect(nothing.stdout).toMatch(/0 VMs can move, 0 wait for something, 1 cannot\. There is nothing to move\. To have it take no new VMs/)
    expect(nothing.stdout).not.toContain('takes about')
    const partial = await berthd(own, 'host', 'drain', 'local', '--partial', '--no-wait')
    expect(partial.stdout).toContain('There is nothing to move: local only goes into maintenance.')
    await berthdJson(own, 'host', 'drain', 'local', '--cancel')
    await berthdJson(own, 'host', 'set', 'local', '--maintenance', 'off')
    const refused = await Promise.all([
      berthd(own, 'host', 'drain', 'local', '--no-wait'),
      berthd(own, 'host', 'drain', 'local', '--concurrency', '0'),
      berthd(own, 'host', 'drain', 'local', '--dry-run', '--cancel'),
      berthd(own, 'host', 'drain', 'local', '--stop-others'),
      berthd(own, 'host', 'drain', 'local', '--cancel'),
      berthd(own, 'host', 'drain', 'nowhere'),
    ])
    expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
      [
        1,
        expect.stringMatching(
          /1 of 1 VM of local cannot move, so nothing was changed.*There is nothing to move: npx berthd host set local --maintenance on/s,
        ),
      ],
      [2, expect.stringContaining('--concurrency is a whole number from 1 to 16')],
      [2, expect.stringContaining('exclude each other')],
      [2, expect.stringMatching(/Nothing was changed: .* are restarted\./)],
      [1, 'Host local is not being drained\n'],
      [1, 'Host not found: npx berthd host list shows them\n'],
    ])
    await drained.db.run(sql`update hosts set maintenance = false where id = ${rack.id}`)
    expect(await berthdJson(own, 'host', 'drain', 'local', '--no-wait')).toMatchObject({ status: 'RUNNING', vms: 1, moved: [] })
    expect(
      (await berthdJson<{ name: string; state: string }[]>(own, 'host', 'list')).map(({ name, state }) => [name, state]),
    ).toContainEqual(['local', 'draining'])
    expect((await berthd(own, 'host', 'set', 'local', '--maintenance', 'off')).stderr).toContain('host drain local --cancel')
    const cancelled = await berthd(own, 'host', 'drain', 'local', '--cancel')
    expect([cancelled.code, (await berthd(own, 'host', 'drain', 'local', '--status')).code]).toEqual([0, 1])
    expect(cancelled.stdout).toMatch(/^Host local is no longer drained \(\S+Z\): 0 of 1 VM moved, 0 on their way, 1 not moved\.\nIt stays/m)
    expect(await berthdJson(own, 'host', 'set', 'local', '--maintenance', 'off')).toMatchObject({ maintenance: false })
    expect((await berthd(own, 'host', 'drain', 'local', '--status')).stdout).toContain(
      'It is in maintenance no longer, and takes VMs again.',
    )
  })

  test('shows a move that is cancelled, and one that would level the load', async () => {
    const { actionId } = await berthdJson<{ actionId: string }>(own, 'vm', 'migrate', id)
    expect((await berthd(own, 'vm', 'migrate', id, '--cancel', '--dry-run')).code).toBe(2)
    expect(await berthdJson(own, 'vm', 'migrate', id, '--cancel')).toEqual({ id, actionId })
    await drained.settle({ subjectId: id })
    expect((await berthd(own, 'vm', 'migrate', id, '--cancel')).stderr).toBe('VM is not being moved\n')
    expect((await berthd(own, 'vm', 'migrate', 'web-1')).stderr).toContain('VM not found: give its id')
    expect((await berthd(own, 'fleet', 'balance', '--dry-run')).stdout).toContain('Nothing to move: the hosts are about equally full')
    expect((await berthd(own, 'fleet', 'balance', '--limit', '0')).code).toBe(2)
    await placeOn(drained, drained.host.id, () => drained.given.vm(customer))
    await drained.db.run(sql`update hosts set ram_total_mib = 8192`)
    expect(await berthdJson<object>(own, 'fleet', 'balance', '--dry-run')).toMatchObject({ moves: [{ from: 'local', to: 'rack1' }] })
    const { started } = await berthdJson<{ started: { to: string }[] }>(own, 'fleet', 'balance')
    expect(started).toMatchObject([{ to: 'rack1' }])
    await drained.settle()
  })

  test('the maintenances of a host that is removed are cancelled', async () => {
    await placeOn(drained, rack.id, () => drained.given.vm(customer))
    const times = ['--from', '2127-03-01T22:00Z', '--to', '2127-03-01T23:00Z']
    const order = ['--host', 'rack1', '--text', 'New memory', ...times]
    expect(await berthdJson(own, 'maintenance', 'create', ...order)).toMatchObject({ accounts: 1 })
    await berthdJson(own, 'host', 'remove', 'rack1', '--unmanage', '--yes')
    expect(await berthdJson(own, 'maintenance', 'list')).toMatchObject([{ host: 'rack1', state: 'CANCELLED' }])
    const told = sql`select type from events where account_id = ${customer.accountId} and type like 'maintenance.%' order by number`
    expect(await drained.db.many(told)).toEqual([{ type: 'maintenance.announced' }, { type: 'maintenance.cancelled' }])
  })
})

describe('berthd maintenance', { timeout: 120_000 }, () => {
  test('announces, lists and cancels', async () => {
    const [from, to] = ['2127-03-01T22:00Z', '2127-03-01T23:00+00:00']
    const order = ['--host', 'rack2', '--text', 'New memory']
    const { id } = await berthdJson(settings, 'maintenance', 'create', ...order, '--from', from, '--to', to)
    expect(await berthdJson<object[]>(settings, 'maintenance', 'list')).toMatchObject([
      { id, host: 'rack2', state: 'SCHEDULED', accounts: 1 },
    ])
    expect((await berthd(settings, 'maintenance', 'cancel', id!)).stdout).toBe(`Maintenance ${id} is cancelled: 1 account notified\n`)
    const refused = await Promise.all([
      berthd(settings, 'maintenance', 'create', ...order, '--from', 'tomorrow', '--to', to),
      berthd(settings, 'maintenance', 'create', ...order, '--from', '2127-03-01T22:00', '--to', to),
      berthd(settings, 'maintenance', 'create', ...order, '--from', to, '--to', from),
      berthd(settings, 'maintenance', 'cancel', id!),
    ])
    expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
      [2, expect.stringContaining('--from is a time with its zone')],
      [2, expect.stringContaining('--from is a time with its zone')],
      [1, expect.stringContaining('It must end after it begins')],
      [1, 'Maintenance is CANCELLED already\n'],
    ])
  })
})
