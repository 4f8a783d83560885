import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterAll, describe, expect, test } from 'vitest'
import { answer, receiver } from '../../../test/receiver.ts'
import { DownloadError, openOutbound, type Outbound, type OutboundOptions } from './outbound-http.ts'

const SOON = { timeout: 10_000 }

/** Listens on all local addresses and counts connections that must not happen. */
let connections = 0
const trap = createServer((socket) => {
  connections++
  socket.destroy()
})
trap.listen(0, '::')
await once(trap, 'listening')
const { port } = trap.address() as AddressInfo
afterAll(() => trap.close())

const opened: Outbound[] = []
afterAll(() => Promise.all(opened.map((each) => each.close())))
function outboundWith(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = openOutbound({
    allowPrivate: false,
    ownNames: ['api.berth.example'],
    timeoutMs: 2_000,
    resolve: async () => [],
    ...options,
  })
  opened.push(outbound)
  return outbound
}
const post = (outbound: Outbound, url: string) => outbound.post(url, { 'content-type': 'text/plain' }, 'hello')

const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .map(({ address, family, internal }) =>
    internal ? '' : family === 'IPv6' ? `https://[${address}]:${port}/` : `https://${address}:${port}/`,
  )
  .filter((url) => URL.canParse(url))

/** Every spelling leads to the trap, or to a cloud's metadata service, when it is allowed. */
const HOSTILE = [
  `http://127.0.0.1:${port}/`,
  `https://127.0.0.1:${port}/`,
  `https://127.1:${port}/`,
  `https://127.0.1:${port}/`,
  `https://0:${port}/`,
  `https://0.0.0.0:${port}/`,
  `https://2130706433:${port}/`,
  `https://017700000001:${port}/`,
  `https://0x7f000001:${port}/`,
  `https://0x7f.1:${port}/`,
  `https://0177.0.0.1:${port}/`,
  `https://0x7f.0x0.0x0.0x1:${port}/`,
  `https://127.0.0.1.:${port}/`,
  `https://%31%32%37.0.0.1:${port}/`,
  `https://１２７.０.０.１:${port}/`,
  `https://①②⑦.⓪.⓪.①:${port}/`,
  `https://[::1]:${port}/`,
  `https://[0:0:0:0:0:0:0:1]:${port}/`,
  `https://[::]:${port}/`,
  `https://[::ffff:127.0.0.1]:${port}/`,
  `https://[::ffff:7f00:1]:${port}/`,
  `https://[::127.0.0.1]:${port}/`,
  `https://[64:ff9b::127.0.0.1]:${port}/`,
  `https://[2002:7f00:1::]:${port}/`,
  `https://[2001:0:7f00:1::]:${port}/`,
  `https://localhost:${port}/`,
  `https://LOCALHOST.:${port}/`,
  `https://a.localhost:${port}/`,
  `https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:${port}/`,
  `https://ip6-localhost:${port}/`,
  `https://example.com@127.0.0.1:${port}/`,
  `https://user:password@localhost:${port}/`,
  `https://example.com:443@127.0.0.1:${port}/`,
  `https:\\\\127.0.0.1:${port}/`,
  `https:127.0.0.1:${port}/`,
  `https:///127.0.0.1:${port}/`,
  ` https://127.0.0.1:${port}/`,
  `https://12\t7.0.0.1:${port}/`,
  `https://10.0.0.1/`,
  `https://172.16.0.1/`,
  `https://192.168.0.1/`,
  `https://100.64.0.1/`,
  `https://169.254.169.254/latest/meta-data/`,
  `https://2852039166/latest/meta-data/`,
  `https://[fd00:ec2::254]/latest/meta-data/`,
  `https://168.63.129.16/`,
  `https://metadata.google.internal/`,
  `https://printer.local/`,
  `https://router.lan/`,
  `https://database/`,
  `https://224.0.0.1/`,
  `https://255.255.255.255/`,
  `https://[fe80::1]/`,
  `https://[ff02::1]/`,
  `https://api.berth.example/`,
  `file:///etc/passwd`,
  `gopher://127.0.0.1:${port}/_x`,
  `ftp://127.0.0.1:${port}/`,
  `javascript:alert(1)`,
  ...own,
]

describe('the SSRF guard', () => {
  test(`rejects ${HOSTILE.length} hostile URLs at registration`, async () => {
    const outbound = outboundWith()
    for (const url of HOSTILE) expect([url, await outbound.rejectionReason(url)]).toEqual([url, expect.any(String)])
  })

  test('opens no connection when they are called nevertheless', async () => {
    const outbound = outboundWith({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
    for (const url of HOSTILE) {
      expect([url, await post(outbound, url)]).toEqual([url, expect.objectContaining({ status: null, error: expect.any(String) })])
      await expect(outbound.download(url, AbortSignal.timeout(2_000)), url).rejects.toBeInstanceOf(DownloadError)
    }
    expect(connections).toBe(0)
  })

  const private4 = { address: '127.0.0.1', family: 4 }
  const public4 = { address: '93.184.216.34', family: 4 }

  test.each([
    ['a private address', [private4]],
    ['a public and a private address', [public4, private4]],
    ['a mapped address', [{ address: '::ffff:127.0.0.1', family: 6 }]],
    ['what is no address', [{ address: '127.1', family: 4 }]],
  ])('rejects a name that resolves to %s, at registration and at every call', async (_, addresses) => {
    const outbound = outboundWith({ resolve: async () => addresses })
    expect(await outbound.rejectionReason(`https://hooks.example.com:${port}/`)).toBe('its host has an address that is not public')
    expect(await post(outbound, `https://hooks.example.com:${port}/`)).toMatchObject({
      status: null,
      error: 'its host has an address that is not public',
    })
    expect(connections).toBe(0)
  })

  test('resists DNS rebinding', async () => {
    let asked = 0
    const outbound = outboundWith({ resolve: async () => [asked++ === 0 ? public4 : private4] })
    expect(await outbound.rejectionReason(`https://rebind.example.com:${port}/`)).toBeNull()
    for (let i = 0; i < 5; i++)
      expect(await post(outbound, `https://rebind.example.com:${port}/`)).toMatchObject({
        error: 'its host has an address that is not public',
      })
    expect([asked, connections]).toEqual([6, 0])
  })

  test('accepts a name that does not resolve yet', async () => {
    const outbound = outboundWith({ resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) })
    expect(await outbound.rejectionReason('https://soon.example.com/')).toBeNull()
    expect(await post(outbound, 'https://soon.example.com/')).toMatchObject({
      error: 'the name of the host could not be resolved (ENOTFOUND)',
    })
  })

  test('does not wait for an unresponsive name server', async () => {
    const outbound = outboundWith({ resolve: () => new Promise(() => {}), timeoutMs: 50 })
    expect(await outbound.rejectionReason('https://slow.example.com/')).toBeNull()
    expect(await post(outbound, 'https://slow.example.com/')).toMatchObject({ error: 'no complete answer within 0.05 seconds' })
  })
})

describe('post', () => {
  test('uses the system resolver where private hosts are allowed', async () => {
    const target = await receiver()
    const { resolve: _, ...options } = { allowPrivate: true, ownNames: [], resolve: undefined }
    const outbound = openOutbound(options)
    opened.push(outbound)
    expect(await outbound.rejectionReason(target.url.replace('127.0.0.1', 'localhost'))).toBeNull()
    expect(await post(outbound, target.url.replace('127.0.0.1', 'localhost'))).toMatchObject({ status: 200, error: null })
  })

  test('returns status, Retry-After and the beginning of the body', async () => {
    const target = await receiver(answer(503, { 'retry-after': '7' }, `a\0b${'é'.repeat(2_000)}`))
    const outcome = await post(outboundWith({ allowPrivate: true }), target.url)
    expect(outcome).toMatchObject({ status: 503, error: null, retryAfter: '7', latencyMs: expect.any(Number) })
    expect(Buffer.byteLength(outcome.body)).toBeLessThanOrEqual(1_024 + 2)
    expect(outcome.body.startsWith('abé')).toBe(true)
  })

  test('does not read an endless response', async () => {
    const target = await receiver((response) => {
      response.writeHead(200)
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(16_384), more))
      more()
    })
    expect(await post(outboundWith({ allowPrivate: true }), target.url)).toMatchObject({ status: 200, error: null })
  })

  test('reuses a connection', async () => {
    const target = await receiver()
    const outbound = outboundWith({ allowPrivate: true })
    for (let i = 0; i < 5; i++) await post(outbound, target.url)
    expect(target.received).toHaveLength(5)
    expect(target.state.connections).toBeLessThanOrEqual(2)
  })

  test('reports a response that is not HTTP', async () => {
    const odd = createServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    odd.listen(0, '127.0.0.1')
    await once(odd, 'listening')
    const outcome = await post(outboundWith({ allowPrivate: true }), `http://127.0.0.1:${(odd.address() as AddressInfo).port}/`)
    expect(outcome).toMatchObject({ status: null, error: expect.stringMatching(/^what it answered is not valid HTTP/) })
    odd.close()
  })

  test('stops when its signal is aborted', async () => {
    const target = await receiver(() => {})
    const stop = new AbortController()
    const outcome = outboundWith({ allowPrivate: true }).post(target.url, {}, '', stop.signal)
    await expect.poll(() => target.received.length, SOON).toBe(1)
    stop.abort()
    expect(await outcome).toMatchObject({ status: null, error: 'we stopped waiting for the answer' })
  })
})

describe('a download', () => {
  const read = async (target: { url: string }, slowAfterMs: number) =>
    Array.fromAsync(await outboundWith({ allowPrivate: true, slowAfterMs }).download(target.url, AbortSignal.timeout(5_000)))

  test('is stopped when the server sends a little now and then', async () => {
    const target = await receiver((response) => {
      const dripping = setInterval(() => response.write('x'), 20)
      response.writeHead(200).on('close', () => clearInterval(dripping))
    })
    await expect(read(target, 200)).rejects.toThrow('it sends less than 128 KiB a second')
  })

  test('may be as slow as it likes while it is short', async () => {
    const target = await receiver((response) => {
      response.writeHead(200).write('one')
      setTimeout(() => response.end('two'), 300)
    })
    expect(Buffer.concat(await read(target, 10_000)).toString()).toBe('onetwo')
  })
})
