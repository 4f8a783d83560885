import { ErrorCode, RemoteError, type Host } from '@berth/libvirt'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLog } from '../../../kernel/log.ts'
import type { HostContext } from '../core/host-context.ts'
import { canShapeTraffic } from './traffic-shaping-probe.ts'

test('a kernel without traffic control is a fact, logged in one line without a stack', async () => {
  const message = 'internal error: Child process (/usr/sbin/tc qdisc add) unexpected exit status 2'
  const refusal = new RemoteError('networkCreate', {
    code: ErrorCode.internal,
    origin: 19,
    level: 2,
    message,
    details: [],
    errno: undefined,
  })
  const networks = { listAll: async () => [], define: async () => ({ name: 'probe' }), create: () => Promise.reject(refusal) }
  const host = { networks } as unknown as Host
  const to = new PassThrough()
  const context = {
    host,
    hostId: 'h1',
    cache: {},
    log: createLog({ level: 'info', pretty: false, to }),
    exclusive: (_name: string, _signal: AbortSignal, work: () => Promise<boolean>) => work(),
    call: (_what: string, _signal: AbortSignal, work: (of: Host) => Promise<unknown>) => work(host),
  } as unknown as HostContext
  expect(await canShapeTraffic(context, AbortSignal.timeout(5_000))).toBe(false)
  const line = String(to.read())
  expect(JSON.parse(line)).toMatchObject({
    hostId: 'h1',
    reason: refusal.message,
    msg: 'traffic shaping probe failed: host kernel lacks tc modules',
  })
  expect(line).not.toContain('stack')
})
