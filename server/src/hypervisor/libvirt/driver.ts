// Real virtual machines: QEMU guests on hosts that run libvirtd. Nothing of ours runs on a host; all is done over libvirt's protocol.
import { join } from 'node:path'
import type { Log } from '../../kernel/log.ts'
import type { Driver } from '../driver.ts'
import type { HostRef } from '../pool.ts'
import { detectAcceleration } from './acceleration.ts'
import { copies } from './copies.ts'
import { endpointOf, rootOf } from './endpoint.ts'
import type { ImageSource } from './image-source.ts'
import { machines } from './machines.ts'
import { networking } from './networking.ts'
import { observation } from './observation.ts'
import { openSession } from './session.ts'
import { templateMethods } from './templates.ts'

export interface LibvirtOptions {
  log: Log
  /** Where template images come from. */
  images: ImageSource
  /** Holds `pki/`, the certificates for hosts reached over TLS. */
  dataDir: string
}

export const libvirtDrivers =
  ({ log, images, dataDir }: LibvirtOptions) =>
  ({ id: hostId, uri }: HostRef): Driver => {
    const context = openSession({ hostId, endpoint: endpointOf(uri, join(dataDir, 'pki')), images, log, root: rootOf(uri) })
    // Found out before the first machine has to wait for it. A host that is away now is asked again by that machine.
    detectAcceleration(context, AbortSignal.timeout(PROBE_MS)).catch(() => undefined)
    return {
      hostId,
      ...machines(context),
      ...templateMethods(context),
      ...networking(context),
      ...copies(context),
      ...observation(context),
      close: context.close,
    }
  }

const PROBE_MS = 120_000
