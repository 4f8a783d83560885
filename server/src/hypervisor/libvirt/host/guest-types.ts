// Which guests a host can run, as its libvirtd says: of which architectures, and with which firmware and devices.
import { RemoteError, type Connection } from '@berth/libvirt'
import { ARCHITECTURES, type Arch } from '../../../kernel/arch.ts'
import { readXml, type Element } from '../core/xml.ts'
import { MACHINE } from '../xml/domain-xml.ts'

/** Architectures, and what guests of each can have: `aarch64`, `x86_64:secure-boot`. */
export async function readGuestTypes({ connect }: Pick<Connection, 'connect'>): Promise<string[]> {
  const types: string[] = []
  for (const arch of ARCHITECTURES) {
    const found = await connect.getDomainCapabilities({ arch, machine: MACHINE[arch], virtType: 'qemu' }).catch(noEmulator)
    if (found !== null) types.push(...guestTypesIn(readXml(found), arch))
  }
  return types
}

function noEmulator(error: unknown): null {
  if (!(error instanceof RemoteError)) throw error
  return null
}

/** ARM machines have no other firmware than UEFI: without its files they do not boot. */
export function guestTypesIn(capabilities: Element, arch: Arch): string[] {
  const offers = (path: string, name: string, value: string): boolean =>
    capabilities
      .find(path)
      ?.all('enum')
      .find((each) => each.attributes['name'] === name)
      ?.all('value')
      .some((each) => each.text === value) ?? false
  const hasUefi = offers('os', 'firmware', 'efi')
  if (arch === 'aarch64' && !hasUefi) return []
  const features = [
    hasUefi && 'uefi',
    hasUefi && offers('os/loader', 'secure', 'yes') && 'secure-boot',
    offers('devices/tpm', 'backendModel', 'emulator') && 'tpm',
  ]
  return [arch, ...features.flatMap((feature) => (feature ? `${arch}:${feature}` : []))]
}
