import { connect, type Socket } from 'node:net'
import { ConnectionLostError } from '../errors.ts'
import { reached, Transport } from './transport.ts'
import type { Endpoint } from './transport.ts'

/** A daemon on this machine. Reading and writing its socket takes root or the group `libvirt`, or somebody who has it: `open` answers a
 *  connected socket. */
export function unix(path = '/run/libvirt/libvirt-sock', open?: (path: string) => Promise<Socket>): Endpoint {
  const what = `cannot reach libvirtd at ${path}`
  return {
    description: path,
    async connect(timeoutMs) {
      if (open) return new Transport(await open(path).catch((error: Error) => fail(what, error)), { apart: false })
      const socket = connect(path)
      await reached(socket, 'connect', timeoutMs, what)
      return new Transport(socket, { apart: false })
    },
  }
}

function fail(what: string, cause: Error): never {
  throw new ConnectionLostError(`${what}: ${cause.message}`, { outcome: 'not sent', cause })
}
