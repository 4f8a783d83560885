import { areas, CpuComparison, CreateFlag, ErrorCode } from '@berth/libvirt'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ScriptedDaemon, type Peer } from '../../../../../libvirt/test/scripted-daemon.ts'
import { Status, type Frame } from '../../../../../libvirt/src/wire/frame.ts'
import { createLog } from '../../../kernel/log.ts'
import { detectAcceleration } from './kvm-probe.ts'
import { openHostContext, type HostContext } from '../core/host-context.ts'

const { connect, domains } = areas
const domain = { name: 'berth-probe-machine', uuid: '00000000-0000-4000-8000-000000000001', id: 1 }

/** As libvirt 9 prints them: of the processor only what its model does not have already, and every EPYC has svm. */
const EPYC = '<arch>x86_64</arch><model>EPYC-Rome</model><vendor>AMD</vendor><feature name="ht"/><feature name="monitor"/>'
const XEON = '<arch>x86_64</arch><model>Skylake-Server-IBRS</model><vendor>Intel</vendor><feature name="ht"/><feature name="vmx"/>'
const NESTED_XEON = '<arch>x86_64</arch><model>Skylake-Server-IBRS</model><vendor>Intel</vendor><feature name="hypervisor"/>'
const NEOVERSE = '<arch>aarch64</arch><model>Neoverse-N1</model><vendor>ARM</vendor>'

function capabilities(cpu: string, types: string[]): string {
  const arch = /<arch>(\w+)/.exec(cpu)![1]
  const offered = types.map((type) => `<domain type='${type}'/>`).join('')
  const other = arch === 'x86_64' ? 'aarch64' : 'x86_64'
  return `<capabilities><host><cpu>${cpu}</cpu></host>
    <guest><os_type>hvm</os_type><arch name='${other}'><domain type='qemu'/></arch></guest>
    <guest><os_type>hvm</os_type><arch name='${arch}'>${offered}</arch></guest></capabilities>`
}

type Guest = 'greets' | 'hangs' | 'does not start' | 'is cut off at first'

/** A host whose guests on KVM do as told. Whatever they say while nobody listens is lost, as with QEMU. */
async function hostOf(xml: string, guest: Guest): Promise<{ context: HostContext; tried: () => number; reconnect: () => Promise<void> }> {
  const daemon = await ScriptedDaemon.start()
  let tried = 0
  let console: [Frame, Peer] | undefined
  const speak = (): void => {
    if (guest === 'hangs') vi.advanceTimersByTime(5_000)
    else console?.[1].packet(console[0], Status.continue, Buffer.from('SeaBIOS'))
  }
  daemon.on(domains.getAllStats, (call, peer) => peer.reply(call, domains.getAllStats.result, []))
  daemon.on(connect.getCapabilities, (call, peer) => peer.reply(call, connect.getCapabilities.result, xml))
  daemon.on(connect.compareCpu, (call, peer) => {
    const [, feature] = /feature name='(\w+)'/.exec(call.payload.toString())!
    const isThere = xml.includes(feature === 'svm' ? 'EPYC' : `"${feature}"`)
    peer.reply(call, connect.compareCpu.result, isThere ? CpuComparison.superset : CpuComparison.incompatible)
  })
  daemon.on(domains.createXml, (call, peer) => {
    tried++
    if (guest === 'is cut off at first' && tried === 1) return void peer.socket.destroy()
    if (guest === 'does not start') return peer.refuse(call, ErrorCode.internal, 'could not access KVM kernel module')
    const isPaused = call.payload.at(-1)! & CreateFlag.paused
    if (!isPaused) speak()
    peer.reply(call, domains.createXml.result, domain)
  })
  daemon.on(domains.openConsole, (call, peer) => {
    console = [call, peer]
    peer.reply(call)
  })
  daemon.on(domains.resume, (call, peer) => {
    peer.reply(call)
    speak()
  })
  daemon.on(domains.destroy, (call, peer) => peer.reply(call))
  const images = { open: () => Promise.reject(new Error('there are none')) }
  const log = createLog({ level: 'silent', pretty: false })
  const context = openHostContext({ hostId: 'h', endpoint: daemon.endpoint, images, log })
  onTestFinished(async () => {
    await context.close()
    await daemon.stop()
  })
  await context.host.whenUp(10_000)
  const reconnect = async (): Promise<void> => {
    const reconnected = new Promise<void>((resolve) => context.onReconnect(resolve))
    await daemon.vanish()
    await daemon.listen()
    await reconnected
  }
  return { context, tried: () => tried, reconnect }
}

test('a connection lost during the probe decides nothing; the next caller probes again', async () => {
  const { context } = await hostOf(capabilities(EPYC, ['qemu', 'kvm']), 'is cut off at first')
  await expect(detectAcceleration(context, AbortSignal.timeout(60_000))).rejects.toMatchObject({ kind: 'unknown_outcome' })
  await context.host.whenUp(10_000)
  expect(await detectAcceleration(context, AbortSignal.timeout(60_000))).toBe('kvm')
})

test('a host is probed once per connection', async () => {
  const { context, tried, reconnect } = await hostOf(capabilities(EPYC, ['qemu', 'kvm']), 'greets')
  const detect = () => detectAcceleration(context, AbortSignal.timeout(60_000))
  expect([await detect(), await detect(), tried()]).toEqual(['kvm', 'kvm', 1])
  await reconnect()
  expect([await detect(), tried()]).toEqual(['kvm', 2])
})

test.each<[string, string, string[], Guest, string, number]>([
  ['an EPYC with KVM', EPYC, ['qemu', 'kvm'], 'greets', 'kvm', 1],
  ['a Xeon with KVM', XEON, ['qemu', 'kvm'], 'greets', 'kvm', 1],
  ['an EPYC without SVM in its firmware', EPYC, ['qemu'], 'greets', 'emulation', 0],
  ['a Xeon without VMX in its firmware', XEON, ['qemu'], 'greets', 'emulation', 0],
  ['a VM without nested virtualisation', NESTED_XEON, ['qemu'], 'greets', 'emulation', 0],
  ['a VM whose KVM interprets instructions', NESTED_XEON, ['qemu', 'kvm'], 'greets', 'emulation', 0],
  ['an ARM machine with KVM', NEOVERSE, ['qemu', 'kvm'], 'greets', 'kvm', 1],
  ['a machine whose guests hang on KVM', NEOVERSE, ['qemu', 'kvm'], 'hangs', 'emulation', 1],
  ['a machine that refuses guests on KVM', EPYC, ['qemu', 'kvm'], 'does not start', 'emulation', 1],
])('%s', async (_, cpu, types, guest, runsBy, probes) => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { context, tried } = await hostOf(capabilities(cpu, types), guest)
  const signal = AbortSignal.timeout(60_000)
  expect(await detectAcceleration(context, signal)).toBe(runsBy)
  expect(await detectAcceleration(context, signal, cpu === NEOVERSE ? 'x86_64' : 'aarch64')).toBe('emulation')
  expect(tried()).toBe(probes)
})
