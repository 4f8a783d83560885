// The list by which the libvirtd of a host refuses revoked certificates, as the host has it.
import { basename } from 'node:path'
import { endpointOf } from '../hypervisor/libvirt/core/endpoint.ts'
import { findSetupFile, readSetupFile } from '../hypervisor/libvirt/host/setup-files.ts'
import type { LocalAccess } from '../hypervisor/local-access.ts'
import { withLibvirt } from './libvirt.ts'
import { tlsFiles } from './tls.ts'

const MOST_BYTES = 4 << 20

/** Whether it has all of these serial numbers. Rejects where the host does not answer. */
export const hasRevoked = (access: LocalAccess, uri: string, serials: string[], signal: AbortSignal): Promise<boolean> =>
  withLibvirt(
    async (libvirt) => {
      const volume = await findSetupFile(libvirt, basename(tlsFiles.crl))
      return volume !== undefined && listsAll(await readSetupFile(libvirt, volume, MOST_BYTES, signal), serials)
    },
    endpointOf(uri, access),
  )

/** Serial numbers are random and long, so nothing else in it has the same bytes. */
function listsAll(crl: string, serials: string[]): boolean {
  const der = Buffer.from(crl.replaceAll(/-----.*-----/g, ''), 'base64')
  return serials.every((serial) => der.includes(Buffer.from(serial, 'hex')))
}
