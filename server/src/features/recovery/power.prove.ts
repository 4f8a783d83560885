// A host is lost while its storage does not answer. The processes of the product switch it off by a real implementation of Redfish, sushy-tools'
// emulator: the machine is a domain of a real libvirtd. Then its VM starts elsewhere.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthority } from '../../../../libvirt/test/certificates.ts'
import { missingForSandbox } from '../../../../libvirt/test/command.ts'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { Sandboxes } from '../../../../libvirt/test/sandbox-fleet.ts'
import type { Sandbox } from '../../../../libvirt/test/sandboxed-libvirtd.ts'
import { clientOf, fleet, orderCompleted } from '../../../test/fleet.ts'
import { controlOf, givenHost, placeOn } from '../../../test/hosts.ts'
import { berthd, berthdJson } from '../../../test/processes.ts'
import { missingForSushy, startMachine, startSushy, type SushyEmulator } from '../../../test/sushy-emulator.ts'
import { uuidOf } from '../../hypervisor/simulated/monitoring.ts'
import { manualClock, systemClock } from '../../kernel/clock.ts'
import { sql } from '../../kernel/database/db.ts'
import type { HostRow } from '../hosts/service.ts'
import { addSimulatedStorage } from '../storage/service.ts'

const WITHIN_MS = 60_000

describeIf(missingForSandbox() ?? missingForSushy())('a lost host whose storage does not answer', { timeout: 300_000 }, async () => {
  const { settings, db, start, account, broken } = await fleet()
  const folder = await mkdtemp(join(tmpdir(), 'berth-power-'))
  let sandboxes: Sandboxes
  let sandbox: Sandbox
  let card: SushyEmulator
  let rack: HostRow
  let [vmId, storageId] = ['', '']
  const faultsOf = (id: string) => controlOf({ db, clock: manualClock() }, id).faults
  const running = async () => (await sandbox.virsh('list', '--name')).trim()
  const setPower = (...args: string[]) =>
    berthd(settings, 'host', 'set-power', 'rack1', '--user', card.user, '--password-file', join(folder, 'password'), ...args)

  beforeAll(async () => {
    sandboxes = await Sandboxes.open()
    sandbox = await sandboxes.add()
    rack = await givenHost({ db, clock: systemClock }, 'rack1')
    await startMachine(sandbox, 'rack1', uuidOf(rack.id))
    card = await startSushy(sandbox, await (await createAuthority(folder)).issue('card', []))
    await writeFile(join(folder, 'password'), card.password)
    const pool = { name: 'pool', region: 'fra1', sizeGiB: 1_000_000, reservePercent: 10 }
    await db.tx((tx) => addSimulatedStorage(tx, systemClock.now(), pool))
    ;({ id: storageId } = await db.one<{ id: string }>(sql`select id from storage_backends`))
    await db.run(sql`update plans set storage = 'REPLICATED'`)
    await db.run(sql`update address_pools set host_id = null`)
    const [api, { token }] = [await start('api'), await account(1_000_000n)]
    await start('worker')
    const ids = await db.one<object>(sql`
      select (select id from regions where slug = 'fra1') as "regionId", (select id from os_templates order by id limit 1) as "osTemplateId",
        (select id from plans where slug = 'small') as "planId"`)
    const customer = clientOf(token, () => api)
    await placeOn({ db }, rack.id, async () => {
      ;({
        vm: { id: vmId },
      } = await orderCompleted(db, customer, WITHIN_MS, 'POST', '/vms', { ...ids, hostname: 'kept' }))
    })
  }, 300_000)
  afterAll(async () => {
    await card?.stop()
    await sandboxes?.close()
    await rm(folder, { recursive: true })
  })

  test('has a power controller that was compared with it, by the certificate that its card shows', async () => {
    const untrusted = await setPower('--redfish', card.url)
    const fingerprint = /--fingerprint ([0-9A-F:]{95});/.exec(untrusted.stderr)?.[1] ?? ''
    expect([untrusted.code, untrusted.stderr]).toEqual([1, expect.stringContaining('its certificate is not trusted')])
    await startMachine(sandbox, 'stranger', uuidOf('stranger'))
    const url = (id: string) => `${card.url}/redfish/v1/Systems/${id}`
    const wrong = await setPower('--redfish', url(uuidOf('stranger')), '--fingerprint', fingerprint)
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('it would switch off another machine')])
    const set = await setPower('--redfish', url(uuidOf(rack.id)), '--fingerprint', fingerprint)
    expect([set.stderr, set.stdout]).toEqual(['', expect.stringContaining(`system ${uuidOf(rack.id)}, is On`)])
  })

  test('is switched off, alone, and its VM starts elsewhere', async () => {
    await faultsOf(storageId).loseHost()
    await faultsOf(rack.id).loseHost()
    expect(await berthdJson(settings, 'host', 'fence', 'rack1', '--yes')).toMatchObject({ means: ['POWER'] })
    expect(await running()).toBe('stranger')
    await faultsOf(rack.id).cutPower() // what ran on the machine has gone with it
    await faultsOf(storageId).returnHost()
    const recovered = await berthdJson<{ started: { vmId: string; host: string }[] }>(settings, 'host', 'recover', 'rack1')
    expect(recovered.started).toMatchObject([{ vmId, host: 'local' }])
    expect(await db.one(sql`select status, h.name from vms v join hosts h on h.id = v.host_id where v.id = ${vmId}`)).toEqual({
      status: 'RUNNING',
      name: 'local',
    })
    expect(await running()).toBe('stranger')
    await faultsOf(rack.id).returnHost()
    expect(await broken()).toBe('')
  })
})
