import { areas, ErrorCode } from '@berth/libvirt'
import { beforeEach, describe, expect, test } from 'vitest'
import { ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import { interfaceMethods } from '../network/interfaces.ts'
import { readinessMethods } from './readiness.ts'

const { registerDomainEvent, deregisterDomainEvent } = areas.registration
const FAILED = 'configuring guest interface address failed'

describe('a guest that has booted', () => {
  let host: ScriptedHost
  let scripts = 0

  beforeEach(async () => {
    host = await ScriptedHost.start()
    scripts = 0
    host.addresses = ['10.0.0.2/24', '10.0.1.2/24']
    host.daemon.on(registerDomainEvent, (call, peer) => peer.reply(call, registerDomainEvent.result, 7))
    host.daemon.on(deregisterDomainEvent, (call, peer) => peer.reply(call))
    host.daemon.on(areas.domains.openConsole, (call, peer) => peer.refuse(call, ErrorCode.internal, 'no console'))
    host.onAgent('guest-ping', (reply) => reply({}))
    host.onAgent('guest-exec', (reply) => reply({ pid: ++scripts }))
    host.onAgent('guest-exec-status', (reply) => reply({ exited: false }))
  })

  const ready = () => readinessMethods(host.context).ensureReady(VM, { timeoutMs: 60_000 }, AbortSignal.timeout(10_000))

  test('is ready although it says for ever that it configures its addresses', async () => {
    expect(await ready()).toEqual({ readiness: 'reachable' })
    expect([scripts, host.warnings]).toEqual([1, [FAILED]])
  })

  test('configures the others where one address fails', async () => {
    host.onAgent('guest-exec-status', (reply) => reply({ exited: true, exitcode: scripts === 1 ? 1 : 0 }))
    expect(await ready()).toEqual({ readiness: 'reachable' })
    expect([scripts, host.warnings]).toEqual([2, [FAILED]])
  })

  test('gets an interface although it says for ever that it configures its address', async () => {
    const nic = { mac: '52:54:00:00:00:00', kind: 'private', ipv4: { address: '10.0.0.2', prefix: 24 } } as never
    await interfaceMethods(host.context).ensureInterface(VM, nic, AbortSignal.timeout(10_000))
    expect([scripts, host.warnings]).toEqual([1, [FAILED]])
  })
})
