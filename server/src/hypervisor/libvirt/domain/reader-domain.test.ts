import { areas, ErrorCode, ErrorOrigin } from '@berth/libvirt'
import { beforeEach, expect, test } from 'vitest'
import { eventually } from '../../../../../libvirt/test/eventually.ts'
import { ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import { stopReaderDomain, tryOpenReader } from './reader-domain.ts'

const READER = `berth-copy-${VM}`
const soon = (): AbortSignal => AbortSignal.timeout(10_000)

let host: ScriptedHost

beforeEach(async () => {
  host = await ScriptedHost.start()
})

const open = async (signal = soon()) => tryOpenReader(host.context, VM, (await host.machine()).xml, signal)

test('a disk has one reader domain at a time', async () => {
  expect((await open())?.name).toBe(READER)
  expect(await open()).toBeUndefined()
  await stopReaderDomain(host.context, VM, soon())
  await stopReaderDomain(host.context, VM, soon())
  expect([...host.helpers]).toEqual([])
})

test.each([
  ['is being started', ErrorCode.operationInvalid],
  ['is being removed', ErrorCode.operationFailed],
])('a reader domain that %s is waited for', async (_, code) => {
  host.once(areas.domains.createXml, (call, peer) => peer.refuse(call, code, '', { origin: ErrorOrigin.domain }))
  expect(await open()).toBeUndefined()
})

test('a disk that QEMU cannot open is an error', async () => {
  host.once(areas.domains.createXml, (call, peer) => peer.refuse(call, ErrorCode.internal, 'Could not open image'))
  await expect(open()).rejects.toMatchObject({ kind: 'transient' })
})

test('a reader domain that starts after its caller has aborted is destroyed', async () => {
  const abort = new AbortController()
  const { promise: starting, resolve: started } = Promise.withResolvers<() => void>()
  const create = host.daemon.scriptOf(areas.domains.createXml)!
  host.once(areas.domains.createXml, (call, peer) => started(() => create(call, peer)))
  const opened = open(abort.signal)
  const answer = await starting
  abort.abort()
  await expect(opened).rejects.toMatchObject({ kind: 'aborted' })
  answer()
  await eventually('the end of the reader domain', () => host.calls.includes(`destroy ${READER}`) || undefined)
})
