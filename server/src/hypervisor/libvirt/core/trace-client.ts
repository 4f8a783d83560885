import type { Host } from '@berth/libvirt'
import { isTracing, span } from '../../../kernel/tracing.ts'

/** The same host, whose calls are spans by the name of their procedure; the arguments are not exported. */
export function traceClient(host: Host, hostId: string): Host {
  if (!isTracing()) return host
  const ids = { 'berth.host_id': hostId }
  const own: Pick<Host, 'call' | 'openStream'> = {
    call: (procedure, args, options) => span(`libvirt ${procedure.name}`, ids, () => host.call(procedure, args, options)),
    openStream: (procedure, args, options) => span(`libvirt ${procedure.name}`, ids, () => host.openStream(procedure, args, options)),
  }
  return Object.assign(Object.create(host) as Host, own)
}
