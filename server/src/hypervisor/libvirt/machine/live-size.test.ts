import { areas, ErrorCode } from '@berth/libvirt'
import { beforeEach, expect, test } from 'vitest'
import { decode } from '../../../../../libvirt/src/xdr/types.ts'
import type { AnyProcedure } from '../../../../../libvirt/src/protocol/procedure.ts'
import { ScriptedHost, VM } from '../../../../test/scripted-libvirt-host.ts'
import type { MachineSpec } from '../../driver.ts'
import { someSpec } from '../../simulated/test-fixture.ts'
import { liveSizeMethods } from './live-size.ts'

const { domains, guests } = areas
const [LIVE, CONFIG] = [1, 2]
const INACTIVE = 2

interface Side {
  vcpu: number
  dimms: { alias: string; ramMiB: number }[]
}

let host: ScriptedHost
let type: 'kvm' | 'qemu'
let sides: { live: Side; config: Side }
/** What the guest has brought online, and whether it gives back. */
let guest: { vcpus: number; blocks: number; obeys: boolean; releases: boolean }

const START = { vcpu: 1, ramMiB: 4096 }
const BLOCK_MIB = 128
const ramOf = ({ dimms }: Side): number => START.ramMiB + dimms.reduce((sum, { ramMiB }) => sum + ramMiB, 0)
const spec = (changes: Partial<MachineSpec>): MachineSpec => someSpec({ vmId: VM, ...START, ...changes })
const ensure = (changes: Partial<MachineSpec>) => liveSizeMethods(host.context).ensureLiveSize(spec(changes), AbortSignal.timeout(10_000))
const dimm = (place: number, ramMiB: number) => ({ alias: `ua-ram-${place}`, ramMiB })

function serve<T>(procedure: AnyProcedure, answer: (args: T) => unknown): void {
  host.daemon.on(procedure, (call, peer) => {
    const result = answer(decode(procedure.args as never, call.payload) as T)
    if (result === REFUSED) peer.refuse(call, ErrorCode.operationFailed, 'the guest refuses')
    else peer.reply(call, procedure.result as never, result)
  })
}
const REFUSED = Symbol('refused')

/** As libvirt writes it. */
function xmlOf(side: Side): string {
  const metadata = `<vm xmlns='urn:berth:vm:1' id='${VM}' account='cacc' generation='1' template='ctpl' agent='yes'/>`
  const memory = side.dimms.map(
    ({ alias, ramMiB }) =>
      `<memory model='dimm'><target><size unit='KiB'>${ramMiB * 1024}</size><node>0</node></target><alias name='${alias}'/></memory>`,
  )
  return `<domain type='${type}'><metadata>${metadata}</metadata><maxMemory slots='16' unit='KiB'>${16384 * 1024}</maxMemory>
    <memory unit='KiB'>${ramOf(side) * 1024}</memory><vcpu placement='static' current='${side.vcpu}'>4</vcpu><devices>${memory.join('')}</devices></domain>`
}

const sideOf = (flags: number): Side => (flags === LIVE ? sides.live : sides.config)

beforeEach(async () => {
  host = await ScriptedHost.start()
  type = 'kvm'
  sides = { live: { vcpu: 1, dimms: [] }, config: { vcpu: 1, dimms: [] } }
  guest = { vcpus: 1, blocks: START.ramMiB / BLOCK_MIB, obeys: true, releases: true }
  serve<{ flags: number }>(domains.getXml, ({ flags }) => xmlOf(flags & INACTIVE ? sides.config : sides.live))
  serve<{ vcpus: number; flags: number }>(domains.setVcpus, ({ vcpus, flags }) => {
    host.calls.push(`${vcpus} vCPU ${flags === LIVE ? 'live' : 'config'}`)
    if (flags === LIVE && vcpus < sides.live.vcpu && !guest.releases) return REFUSED
    sideOf(flags).vcpu = vcpus
    return undefined
  })
  serve<{ xml: string; flags: number }>(domains.attachDevice, ({ xml, flags }) => {
    const [, ramMiB, alias] = /<size unit='MiB'>(\d+)<.*<alias name='([^']+)'/.exec(xml)!
    host.calls.push(`${ramMiB} MiB ${flags === LIVE ? 'live' : 'config'}`)
    if (sideOf(flags).dimms.some((each) => each.alias === alias)) return REFUSED
    sideOf(flags).dimms.push({ alias: alias!, ramMiB: Number(ramMiB) })
    return undefined
  })
  serve<{ alias: string; flags: number }>(domains.detachDeviceByAlias, ({ alias, flags }) => {
    if (flags === CONFIG || guest.releases) sideOf(flags).dimms = sideOf(flags).dimms.filter((each) => each.alias !== alias)
    return undefined
  })
  serve<{ command: string }>(guests.agentCommand, ({ command }) => {
    const { execute, arguments: given } = JSON.parse(command) as { execute: string; arguments?: Record<string, unknown[]> }
    return JSON.stringify({ return: answerOf(execute, Object.values(given ?? {})[0]?.length ?? 0) })
  })
})

function answerOf(execute: string, count: number): unknown {
  const list = (total: number, online: number, key: string) =>
    Array.from({ length: total }, (_, id) => ({ [key]: id, online: id < online }))
  if (execute === 'guest-get-vcpus') return list(sides.live.vcpu, guest.vcpus, 'logical-id')
  if (execute === 'guest-get-memory-block-info') return { size: BLOCK_MIB * 2 ** 20 }
  if (execute === 'guest-get-memory-blocks') return list(ramOf(sides.live) / BLOCK_MIB, guest.blocks, 'phys-index')
  const taken = guest.obeys ? count : 0
  if (execute === 'guest-set-vcpus') guest.vcpus += taken
  else guest.blocks += taken
  return execute === 'guest-set-vcpus'
    ? taken
    : Array.from({ length: count }, () => ({ response: guest.obeys ? 'success' : 'operation-failed' }))
}

test('a machine gets memory, then vCPUs, in both of its definitions, once, and its guest brings them online', async () => {
  expect(await ensure({ vcpu: 2, ramMiB: 5120 })).toEqual({ vcpu: 2, ramMiB: 5120, guestReason: null })
  expect(host.calls).toEqual(['1024 MiB live', '2 vCPU live', '1024 MiB config', '2 vCPU config'])
  expect(sides).toEqual({ live: { vcpu: 2, dimms: [dimm(0, 1024)] }, config: { vcpu: 2, dimms: [dimm(0, 1024)] } })
  expect([guest.vcpus, guest.blocks]).toEqual([2, 5120 / BLOCK_MIB])
  host.calls.splice(0)
  expect(await ensure({ vcpu: 2, ramMiB: 5120 })).toMatchObject({ guestReason: null })
  expect(host.calls).toEqual([])
  await ensure({ vcpu: 2, ramMiB: 8192 })
  expect(sides.config.dimms).toEqual([dimm(0, 1024), dimm(1, 3072)])
})

test.each([
  [
    'memory',
    { live: { vcpu: 1, dimms: [dimm(0, 1024)] }, config: { vcpu: 1, dimms: [] } },
    ['2 vCPU live', '1024 MiB config', '2 vCPU config'],
  ],
  ['vCPUs', { live: { vcpu: 2, dimms: [dimm(0, 1024)] }, config: { vcpu: 1, dimms: [] } }, ['1024 MiB config', '2 vCPU config']],
  [
    'the memory of its definition',
    { live: { vcpu: 2, dimms: [dimm(0, 1024)] }, config: { vcpu: 1, dimms: [dimm(0, 1024)] } },
    ['2 vCPU config'],
  ],
])('a machine whose process was killed after it had added %s gets what is missing', async (_what, left, calls) => {
  sides = left
  expect(await ensure({ vcpu: 2, ramMiB: 5120 })).toEqual({ vcpu: 2, ramMiB: 5120, guestReason: null })
  expect(host.calls).toEqual(calls)
  expect(sides.live).toEqual(sides.config)
})

test('memory that another process has added meanwhile is not added twice', async () => {
  host.once(domains.attachDevice, (call, peer) => {
    sides.live.dimms.push(dimm(0, 1024))
    peer.refuse(call, ErrorCode.operationFailed, 'Duplicate device ID')
  })
  expect(await ensure({ ramMiB: 5120 })).toMatchObject({ ramMiB: 5120 })
  expect(sides.live.dimms).toEqual([dimm(0, 1024)])
})

test('memory is added as often as there are slots, and vCPUs after that too', async () => {
  const dimms = Array.from({ length: 15 }, (_, place) => dimm(place, 128))
  for (const side of Object.values(sides)) side.dimms = [...dimms]
  const ramMiB = ramOf(sides.live) + 256
  expect(await ensure({ ramMiB })).toMatchObject({ ramMiB })
  host.calls.splice(0)
  await expect(ensure({ vcpu: 2, ramMiB: ramMiB + 128 })).rejects.toMatchObject({ kind: 'invalid_state' })
  expect(host.calls).toEqual([])
  expect(await ensure({ vcpu: 2, ramMiB })).toMatchObject({ vcpu: 2, ramMiB })
})

test('what the guest does not use is said', async () => {
  guest.obeys = false
  expect(await ensure({ vcpu: 3, ramMiB: 5120 })).toEqual({ vcpu: 3, ramMiB: 5120, guestReason: 'its guest uses 1 of 3 vCPUs' })
  guest.vcpus = 3
  expect((await ensure({ vcpu: 3, ramMiB: 5120 })).guestReason).toBe('its guest uses 4096 of 5120 MiB RAM')
})

test('what was added is taken back, as far as the guest releases it, and the definition has what it has', async () => {
  await ensure({ vcpu: 3, ramMiB: 5120 })
  guest.releases = false
  expect(await ensure({})).toEqual({ vcpu: 3, ramMiB: 5120, guestReason: null })
  expect(sides.live).toEqual(sides.config)
  guest.releases = true
  expect(await ensure({})).toEqual({ ...START, guestReason: null })
  expect(sides).toEqual({ live: { vcpu: 1, dimms: [] }, config: { vcpu: 1, dimms: [] } })
})

test('vCPUs are not taken back where they are emulated', async () => {
  type = 'qemu'
  await ensure({ vcpu: 3, ramMiB: 5120 })
  expect(await ensure({})).toEqual({ vcpu: 3, ramMiB: 4096, guestReason: null })
  expect([sides.live, sides.config]).toEqual([
    { vcpu: 3, dimms: [] },
    { vcpu: 3, dimms: [] },
  ])
})

test('a machine does not grow above its room, and one that is off not at all', async () => {
  await expect(ensure({ vcpu: 5 })).rejects.toMatchObject({ kind: 'invalid_state' })
  await expect(ensure({ ramMiB: 16_512 })).rejects.toMatchObject({ kind: 'invalid_state' })
  host.isOn = false
  await ensure({ vcpu: 2 })
  expect(host.calls).toEqual([])
})
