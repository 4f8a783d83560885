// Real virtual machines: QEMU guests on hosts that run libvirtd. Nothing of ours runs on a host; all is done over libvirt's protocol.
import { join } from 'node:path'
import type { Log } from '../../kernel/log.ts'
import type { HostRef } from '../pool.ts'
import { endpointOf, rootOf } from './endpoint.ts'
import type { ImageSource } from './image-source.ts'
import { openSession } from './session.ts'

export interface LibvirtOptions {
  log: Log
  /** Where template images come from. */
  images: ImageSource
  /** Holds `pki/`, the certificates for hosts reached over TLS. */
  dataDir: string
}

export const libvirtDrivers =
  ({ log, images, dataDir }: LibvirtOptions) =>
  ({ id: hostId, uri }: HostRef) => {
    const session = openSession({ hostId, endpoint: endpointOf(uri, join(dataDir, 'pki')), images, log, root: rootOf(uri) })
    return { hostId, close: session.close }
  }
