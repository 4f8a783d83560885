import { areas, Connection } from '@berth/libvirt'
import { expect, onTestFinished, test } from 'vitest'
import { ScriptedDaemon } from '../../../../../libvirt/test/scripted-daemon.ts'
import { confirming } from '../../../../../libvirt/test/stream-script.ts'
import { Status } from '../../../../../libvirt/src/wire/frame.ts'
import { readSetupFile } from './setup-files.ts'

test('a file of a host is read whole, and not at all where the host sends more than allowed', async () => {
  const daemon = await ScriptedDaemon.start()
  onTestFinished(() => daemon.stop())
  let isReadWhole = true
  daemon.on(areas.volumes.download, (call, peer) => {
    peer.reply(call)
    for (let i = 0; i < 4; i++) peer.packet(call, Status.continue, Buffer.alloc(1024, 'a'))
    peer.packet(call, Status.continue)
    if (isReadWhole) confirming(daemon, peer)
  })
  const connection = await Connection.open({ endpoint: daemon.endpoint })
  onTestFinished(() => connection.close())
  const read = (mostBytes: number) =>
    readSetupFile(connection, { pool: 'berth-setup', name: 'chassis.pem', key: 'k' }, mostBytes, AbortSignal.timeout(10_000))
  expect(await read(4096)).toBe('a'.repeat(4096))
  isReadWhole = false
  await expect(read(4095)).rejects.toThrow('chassis.pem of the host is larger than 4095 bytes')
})
