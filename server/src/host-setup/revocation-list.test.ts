import { areas } from '@berth/libvirt'
import { expect, onTestFinished, test } from 'vitest'
import { Status } from '../../../libvirt/src/wire/frame.ts'
import { ScriptedDaemon } from '../../../libvirt/test/scripted-daemon.ts'
import { confirming } from '../../../libvirt/test/stream-script.ts'
import { testApp } from '../../test/harness.ts'
import { givenHost } from '../../test/hosts.ts'
import { certificates } from '../commands/doctor/certificates.ts'
import { sql } from '../kernel/database/db.ts'
import { openAuthority, revokedSerials } from './certificate-authority.ts'

const { pools, volumes } = areas

test('hosts whose list of revoked certificates is old are named', async () => {
  const app = await testApp()
  const config = { ...app.config, databaseUrl: app.db.url }
  const authority = await openAuthority(app.deps)
  const { daemon, port } = await ScriptedDaemon.startTls({ ...(await authority.issue('127.0.0.1')), ca: authority.ca })
  onTestFinished(() => daemon.stop())
  const pool = { name: 'berth-setup', uuid: '5a1b2c3d-0000-4000-8000-000000000001' }
  let crl: string | null = authority.crl
  daemon
    .on(pools.listAll, (call, peer) => peer.reply(call, pools.listAll.result, [pool]))
    .on(pools.refresh, (call, peer) => peer.reply(call))
    .on(pools.listAllVolumes, (call, peer) =>
      peer.reply(call, pools.listAllVolumes.result, crl === null ? [] : [{ pool: pool.name, name: 'ca-crl.pem', key: 'k' }]),
    )
    .on(volumes.download, (call, peer) => {
      peer.reply(call)
      peer.packet(call, Status.continue, Buffer.from(crl!))
      peer.packet(call, Status.continue)
      confirming(daemon, peer)
    })
  await givenHost(app, 'silent')
  await app.db.run(sql`update hosts set driver = 'libvirt', uri = ${`qemu+tls://127.0.0.1:${port}/system`} where name = 'local'`)
  await app.db.run(sql`update hosts set driver = 'libvirt', uri = 'qemu+tls://127.0.0.1:1/system' where name = 'silent'`)
  expect(await certificates(config)).toMatchObject({ status: 'ok' })
  await authority.issuePeer('10.0.0.5', app.host.region_id)
  await authority.revoke('10.0.0.5')
  expect(await revokedSerials(app.deps)).toHaveLength(1)
  const old = { status: 'warning', message: 'hosts that accept revoked certificates, because their list is old: local' }
  expect(await certificates(config)).toMatchObject(old)
  crl = null
  expect(await certificates(config)).toMatchObject(old)
  crl = (await openAuthority(app.deps)).crl
  expect(await certificates(config)).toMatchObject({ status: 'ok' })
})
