import { connect } from 'node:net'
import { reached, Transport } from './transport.ts'
import type { Endpoint } from './transport.ts'

/** A daemon on this machine. Reading and writing its socket takes root or the group `libvirt`. */
export function unix(path = '/run/libvirt/libvirt-sock'): Endpoint {
  return {
    description: path,
    async connect(timeoutMs) {
      const socket = connect(path)
      await reached(socket, 'connect', timeoutMs, `cannot reach libvirtd at ${path}`)
      return new Transport(socket, { apart: false })
    },
  }
}
