// Transfers that fail: a host that is full, a source that stalls, a copy that is removed meanwhile.
import { Readable } from 'node:stream'
import { areas, ErrorCode } from '@berth/libvirt'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { ScriptedDaemon } from '../../../../../libvirt/test/scripted-daemon.ts'
import { confirming, packetsHeard } from '../../../../../libvirt/test/stream-script.ts'
import { Status, type Frame } from '../../../../../libvirt/src/wire/frame.ts'
import { decode } from '../../../../../libvirt/src/xdr/types.ts'
import type { SnapshotsAndBackups } from '../../driver.ts'
import { backupTransferMethods } from './backup-transfer.ts'
import { openHostContext, type HostContext } from '../core/host-context.ts'

const { domains, pools, volumes } = areas
const REQUEST = { backupId: 'cbackup', parentId: null }
const NAME = 'backup-cvm-cbackup.qcow2'
const QCOW2 = Buffer.alloc(104)
QCOW2.write('QFI\xfb', 'latin1')
QCOW2.writeBigUInt64BE(2n ** 20n, 24)

const volume = (name: string) => ({ pool: 'berth', name, key: `/berth/${name}` })
const soon = (): AbortSignal => AbortSignal.timeout(20_000)
/** Never ends. */
const sender = (chunks: Buffer[]): Readable => {
  const bytes = new Readable({ read: () => undefined })
  for (const chunk of chunks) bytes.push(chunk)
  return bytes
}

let daemon: ScriptedDaemon
let context: HostContext & { close(): Promise<void> }
let methods: Pick<SnapshotsAndBackups, 'readBackup' | 'ensureBackupCopy'>
/** Volumes of the host. */
let names: Set<string>

beforeEach(async () => {
  names = new Set()
  daemon = await ScriptedDaemon.start()
  daemon.on(domains.getAllStats, (call, peer) => peer.reply(call, domains.getAllStats.result, []))
  daemon.on(pools.lookupByName, (call, peer) => peer.reply(call, pools.lookupByName.result, { name: 'berth', uuid: crypto.randomUUID() }))
  daemon.on(volumes.lookupByName, (call, peer) => {
    const { name } = decode(volumes.lookupByName.args, call.payload) as { name: string }
    if (names.has(name)) peer.reply(call, volumes.lookupByName.result, volume(name))
    else peer.refuse(call, ErrorCode.noStorageVolume, `no volume ${name}`)
  })
  daemon.on(volumes.create, (call, peer) => {
    const name = /<name>(.*)<\/name>/.exec((decode(volumes.create.args, call.payload) as { xml: string }).xml)![1]!
    names.add(name)
    peer.reply(call, volumes.create.result, volume(name))
  })
  daemon.on(volumes.delete, (call, peer) => {
    names.delete((decode(volumes.delete.args, call.payload) as { volume: { name: string } }).volume.name)
    peer.reply(call)
  })
  context = openHostContext({
    hostId: 'host',
    endpoint: daemon.endpoint,
    images: { open: () => Promise.reject(new Error('none')) },
    log: pino({ level: 'silent' }),
  })
  methods = backupTransferMethods(context)
})
afterEach(async () => {
  await context.close()
  await daemon.stop()
})

test.each([
  ['the volume', () => daemon.on(volumes.create, (call, peer) => peer.refuse(call, ErrorCode.operationFailed, 'No space left on device'))],
  ['the bytes', () => daemon.on(volumes.upload, (call, peer) => peer.refuse(call, ErrorCode.operationFailed, 'No space left on device'))],
])('a host without space for %s destroys the source stream', async (_, script) => {
  script()
  const bytes = sender([QCOW2])
  await expect(methods.ensureBackupCopy('cvm', REQUEST, () => Promise.resolve(bytes), soon())).rejects.toMatchObject({ kind: 'no_space' })
  expect(bytes.destroyed).toBe(true)
})

test.each([
  ['before its first byte', []],
  ['halfway', [QCOW2]],
])('a source that stalls %s is destroyed when the caller aborts', async (_, chunks) => {
  daemon.on(volumes.upload, (call, peer) => peer.reply(call))
  const bytes = sender([...chunks])
  const copied = methods.ensureBackupCopy('cvm', REQUEST, () => Promise.resolve(bytes), AbortSignal.timeout(300))
  await expect(copied).rejects.toMatchObject({ kind: 'aborted' })
  expect(bytes.destroyed).toBe(true)
})

test('a copy that is removed while it is received leaves nothing', async () => {
  daemon.on(volumes.upload, (call, peer) => {
    names.delete(NAME)
    peer.reply(call)
    confirming(daemon, peer)
  })
  const copied = methods.ensureBackupCopy('cvm', REQUEST, () => Promise.resolve(Readable.from([QCOW2])), soon())
  await expect(copied).rejects.toMatchObject({ kind: 'cancelled' })
  expect([...names]).toEqual([])
})

test.each([
  ['before', 'was ended by its caller'],
  ['after', 'aborted'],
])('an aborted download is ended: %s the stream was opened', async (when, said) => {
  for (const name of [NAME, `${NAME}.whole`]) names.add(name)
  const abort = new AbortController()
  let open: Frame | undefined
  daemon.on(volumes.download, (call, peer) => {
    open = call
    if (when === 'before') abort.abort()
    peer.reply(call)
  })
  const read = methods.readBackup('cvm', 'cbackup', abort.signal).then(async (bytes) => {
    abort.abort()
    for await (const _ of bytes) continue
  })
  await expect(read).rejects.toThrow(said)
  const ended = await eventually('the end of the stream', () => packetsHeard(daemon, Status.error)[0])
  expect(ended.serial).toBe(open?.serial)
})
