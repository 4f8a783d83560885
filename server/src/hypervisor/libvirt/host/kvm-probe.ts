// Whether guests run with KVM or are emulated. /dev/kvm alone proves nothing: containers and nested machines inherit it where it does not
// work. So a probe domain is started with KVM, whose firmware must write to the serial console soon.
// Firmware that boots is not enough either: a KVM for processors without virtualization (kvm_pvm) interprets every instruction of a guest
// whose kernel was not built for it, many times slower than QEMU's own emulation. So the processor must have the feature.
import { CpuComparison, RemoteError, type Host } from '@berth/libvirt'
import { isArch } from '../../../kernel/arch.ts'
import type { Acceleration, Arch } from '../../driver.ts'
import { MACHINE, processorXml } from '../xml/domain-xml.ts'
import { KVM_PROBE_DOMAIN } from '../core/resource-names.ts'
import type { HostContext } from '../core/host-context.ts'
import { isNameTaken } from '../core/errors.ts'
import { pollUntil } from '../core/poll.ts'
import { element, readXml, type Element, type Xml } from '../core/xml.ts'

/** Firmware writes its first line within a second where KVM works. */
const GREETING_MS = 5_000
const DEADLINE_MS = 60_000
const PROBE_INTERVAL_MS = 500

/** Probed once per connection to the host. A guest of another architecture than the host's is always emulated. */
export async function detectAcceleration(context: HostContext, signal: AbortSignal, arch?: Arch): Promise<Acceleration> {
  const { cache } = context
  const probed = (cache.acceleration ??= detect(context))
  probed.catch(() => {
    if (cache.acceleration === probed) cache.acceleration = undefined
  })
  const found = await context.call('wait for the acceleration probe', signal, () => probed)
  return arch === undefined || arch === found.arch ? found.acceleration : 'emulation'
}

async function detect(context: HostContext): Promise<{ arch: string; acceleration: Acceleration }> {
  const signal = AbortSignal.timeout(DEADLINE_MS)
  const capabilities = await context.call('read host capabilities', signal, async (host) => readXml(await host.connect.getCapabilities()))
  const arch = capabilities.find('host/cpu/arch')?.text ?? ''
  const runsOnCpu =
    isArch(arch) &&
    offersKvm(capabilities, arch) &&
    (await cpuVirtualizes(context, arch, signal)) &&
    (await bootsWithKvm(context, arch, signal))
  const acceleration = runsOnCpu ? 'kvm' : 'emulation'
  const level = acceleration === 'kvm' ? 'info' : 'warn' // emulated guests are several times slower
  context.log[level]({ hostId: context.hostId, arch, acceleration }, 'acceleration detected')
  return { arch, acceleration }
}

/** QEMU offers KVM where it could open /dev/kvm, which is missing while virtualization is off in the firmware. */
function offersKvm(capabilities: Element, arch: string): boolean {
  const guest = capabilities.all('guest').find((each) => each.attribute('arch/name') === arch)
  return guest?.all('arch/domain').some((each) => each.attributes['type'] === 'kvm') ?? false
}

/**
 * Capabilities name a feature only where the processor's model does not include it, so libvirt compares.
 * ARM has no such feature: there KVM is only offered where the processor has it.
 */
async function cpuVirtualizes(context: HostContext, arch: Arch, signal: AbortSignal): Promise<boolean> {
  if (arch !== 'x86_64') return true
  const has = (feature: string): Promise<boolean> => {
    const xml = element('cpu', {}, element('arch', {}, arch), element('model', {}, '486'), element('feature', { name: feature })).xml
    return context.call(
      'compare the host processor',
      signal,
      async (host) => (await host.connect.compareCpu({ xml })) !== CpuComparison.incompatible,
    )
  }
  return (await has('vmx')) || has('svm')
}

/** The probe domain is destroyed with our connection, and a host has one: another process waits until it is gone. */
async function bootsWithKvm(context: HostContext, arch: Arch, signal: AbortSignal): Promise<boolean> {
  const xml = probeXml(arch).xml
  const probe = (): Promise<boolean | undefined> =>
    context.call('probe KVM', signal, (host) =>
      runProbeDomain(context, host, xml).catch((error: unknown) => {
        if (isNameTaken(error)) return undefined
        if (!(error instanceof RemoteError)) throw error // says nothing about KVM: the next caller probes again
        context.log.warn({ hostId: context.hostId, err: error }, 'KVM probe domain failed to start')
        return false
      }),
    )
  return pollUntil(context, 'wait for the KVM probe domain', signal, probe, { intervalMs: PROBE_INTERVAL_MS })
}

async function runProbeDomain(context: HostContext, host: Host, xml: string): Promise<boolean> {
  // Starts paused, until the console is open: output before that is lost, and firmware may finish before the reply arrives.
  const domain = await host.domains.createXml({ xml, flags: ['autodestroy', 'paused'] })
  try {
    const terminal = await host.domains.openConsole({ domain })
    const { promise: greeted, resolve, reject } = Promise.withResolvers<boolean>()
    terminal.once('data', () => resolve(true)).once('error', reject)
    const timer = setTimeout(resolve, GREETING_MS, false)
    await host.domains.resume({ domain })
    const isAlive = await greeted
    clearTimeout(timer)
    terminal.destroy()
    return isAlive
  } finally {
    await context.host.domains.destroy({ domain })
  }
}

function probeXml(arch: Arch): Xml {
  const [firmware, ...processor] = processorXml(arch, 'kvm')
  // SeaBIOS writes to the serial port only when told to.
  const talking = element('os', {}, element('type', { arch, machine: MACHINE[arch] }, 'hvm'), element('bios', { useserial: 'yes' }))
  return element(
    'domain',
    { type: 'kvm' },
    element('name', {}, KVM_PROBE_DOMAIN),
    element('memory', { unit: 'MiB' }, 128),
    element('vcpu', {}, 1),
    arch === 'x86_64' ? talking : firmware,
    ...processor,
    element(
      'devices',
      {},
      element('controller', { type: 'usb', model: 'none' }),
      element('serial', { type: 'pty' }, element('target', { port: 0 })),
      element('memballoon', { model: 'none' }),
    ),
  )
}
