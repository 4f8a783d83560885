import { setTimeout as pause } from 'node:timers/promises'
import { areas, ErrorCode, Host } from '@berth/libvirt'
import { expect, test } from 'vitest'
import { ScriptedDaemon } from '../../../../../libvirt/test/scripted-daemon.ts'
import type { HostContext } from '../core/host-context.ts'
import { createVolume } from './volumes.ts'

const { pools, volumes } = areas
const IMPATIENT_MS = 50

test('a volume copy has a longer timeout than other calls', async ({ onTestFinished }) => {
  const copied = { pool: 'berth', name: 'disk', key: '/disk' }
  const daemon = await ScriptedDaemon.start()
  daemon.on(pools.lookupByName, (call, peer) => peer.reply(call, pools.lookupByName.result, { name: 'berth', uuid: crypto.randomUUID() }))
  daemon.on(volumes.lookupByName, (call, peer) => peer.refuse(call, ErrorCode.noStorageVolume, 'no such volume'))
  daemon.on(
    volumes.createFrom,
    (call, peer) => void pause(IMPATIENT_MS * 4).then(() => peer.reply(call, volumes.createFrom.result, copied)),
  )
  const host = new Host({ endpoint: daemon.endpoint, slowTimeoutMs: IMPATIENT_MS })
  onTestFinished(async () => {
    await host.close()
    await daemon.stop()
  })
  await host.whenUp(10_000)
  const context = { call: (_what, _signal, work) => work(host) } satisfies Pick<HostContext, 'call'>
  const made = { name: 'disk', format: 'qcow2', capacityBytes: 1 } as const
  const from = { pool: 'berth', name: 'backup', key: '/backup' }
  expect(await createVolume(context as HostContext, made, AbortSignal.timeout(10_000), from)).toEqual(copied)
})
