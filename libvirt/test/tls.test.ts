import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { areas, Connection, tls } from '../src/index.ts'
import { createAuthority } from './certificates.ts'
import type { Authority, Identity } from './certificates.ts'
import { missingCommands } from './command.ts'
import { describeIf } from './describe-if.ts'
import { ScriptedDaemon } from './scripted-daemon.ts'

const { getHostname } = areas.connect
let folder: string
let authority: Authority
let server: Identity
let client: Identity
let stops: (() => Promise<unknown>)[] = []

async function start(welcome?: Buffer): Promise<number> {
  const { daemon, port } = await ScriptedDaemon.startTls({ ca: authority.ca, ...server }, welcome)
  daemon.on(getHostname, (call, peer) => peer.reply(call, getHostname.result, 'over tls'))
  stops.push(() => daemon.stop())
  return port
}

const open = (port: number, options: object = {}) =>
  Connection.open({ endpoint: tls({ host: '127.0.0.1', port, ca: authority.ca, ...client, ...options }), openTimeoutMs: 5000 })

describeIf(missingCommands('openssl'))('TLS', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'libvirt-tls-'))
    authority = await createAuthority(folder)
    server = await authority.issue('server', ['IP:127.0.0.1', 'DNS:host.test'])
    client = await authority.issue('client', [])
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  test('both sides present certificates', async () => {
    const connection = await open(await start())
    expect(await connection.connect.getHostname()).toBe('over tls')
    await connection.close()
  })

  test('the certificate must match the name', async () => {
    const port = await start()
    await expect(open(port, { host: 'localhost' })).rejects.toThrow(/altnames|localhost/)
    const connection = await open(port, { host: 'localhost', serverName: 'host.test' })
    await connection.close()
  })

  test('a daemon of another authority is not trusted', async () => {
    const other = await mkdtemp(join(folder, 'other-'))
    const { ca } = await createAuthority(other)
    await expect(open(await start(), { ca })).rejects.toThrow(/cannot reach libvirtd/)
  })

  test('a client without certificate is rejected with the reason', async () => {
    const port = await start()
    await expect(open(port, { cert: undefined, key: undefined })).rejects.toThrow(/does not accept our certificate/)
  })

  test('a daemon that does not accept the certificate is disconnected', async () => {
    await expect(open(await start(Buffer.from([0])))).rejects.toThrow('byte 0 instead of 1')
  })

  test('every message has a record of its own', async () => {
    const { port, sizes } = await watchRecords(await start())
    const connection = await open(port)
    const before = sizes.length
    await Promise.all(Array.from({ length: 12 }, () => connection.connect.getHostname()))
    // 28 bytes of message, 1 of record type and 16 of authentication.
    expect(sizes.slice(before)).toEqual(Array.from({ length: 12 }, () => 28 + 17))
    await connection.close()
  })
})

/** Stands between client and daemon and notes the size of each encrypted record the client sends. */
async function watchRecords(daemonPort: number): Promise<{ port: number; sizes: number[] }> {
  const sizes: number[] = []
  const proxy: Server = createServer((socket) => {
    const onward = connect(daemonPort, '127.0.0.1')
    let rest = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (; rest.length >= 5 && rest.length >= 5 + rest.readUInt16BE(3); rest = rest.subarray(5 + rest.readUInt16BE(3))) {
        if (rest[0] === 23) sizes.push(rest.readUInt16BE(3))
      }
    })
    socket.pipe(onward).pipe(socket)
    for (const one of [socket, onward]) one.on('error', () => {}).on('close', () => [socket, onward].forEach((other) => other.destroy()))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  stops.unshift(() => new Promise((resolve) => proxy.close(resolve)))
  return { port: (proxy.address() as AddressInfo).port, sizes }
}
