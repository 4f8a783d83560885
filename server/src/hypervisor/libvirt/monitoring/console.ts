// The two ways to sit in front of a machine, and a look at its screen.
import { once } from 'node:events'
import { connect } from 'node:net'
import { addAbortSignal, type Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { DriverError, type Monitoring } from '../../driver.ts'
import { getRunning, type MachineState } from '../domain/lookup.ts'
import { ppmToPng } from './ppm.ts'
import type { HostContext } from '../core/host-context.ts'
import { destroyIfAborted } from '../core/abortable.ts'

export function consoleMethods(context: HostContext): Pick<Monitoring, 'openConsole' | 'screenshot'> {
  return {
    openConsole: async (vmId, type, signal) => {
      if (type === 'vnc' && context.root === undefined)
        throw new DriverError('unsupported', `Host ${context.hostId} is another machine: VNC is offered on this one only`, {
          userMessage: 'This VM has a serial console only.',
        })
      const machine = await getRunning(context, vmId, signal)
      return type === 'vnc' ? openVnc(context, machine, signal) : openSerial(context, machine, signal)
    },

    screenshot: async (vmId, signal) => {
      const { domain } = await getRunning(context, vmId, signal)
      const { type, bytes } = await context.call(`look at the screen of ${vmId}`, signal, async (host) => {
        const picture = await host.domains.screenshot({ domain })
        return { type: picture.reply, bytes: await buffer(picture) }
      })
      const png = type === 'image/png' ? bytes : ppmToPng(bytes)
      if (!png) throw new DriverError('unsupported', `The screen of ${vmId} on host ${context.hostId} came as ${type}`)
      return png
    },
  }
}

const openSerial = ({ call }: HostContext, { domain }: MachineState, signal: AbortSignal): Promise<Duplex> =>
  call(`open the serial console of ${domain.name}`, signal, async (host) =>
    destroyIfAborted(await host.domains.openConsole({ domain, flags: ['force'] }), signal),
  )

/** QEMU listens on a socket in the file system: nothing is open to the network. */
async function openVnc(
  { call, root = '', hostId, closing }: HostContext,
  { domain, xml }: MachineState,
  signal: AbortSignal,
): Promise<Duplex> {
  const graphics = xml.all('devices/graphics').find((each) => each.attributes['type'] === 'vnc')
  const path = graphics?.attributes['socket'] ?? graphics?.attribute('listen/socket')
  if (!path) throw new DriverError('unsupported', `${domain.name} on host ${hostId} has no screen to connect to`)
  return call(`open the screen of ${domain.name}`, signal, async () => {
    const socket = connect(`${root}${path}`)
    await once(socket, 'connect')
    return destroyIfAborted(addAbortSignal(closing, socket), signal)
  })
}
