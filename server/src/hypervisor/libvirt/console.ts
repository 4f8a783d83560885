// The two ways to sit in front of a machine, and a look at its screen.
import { once } from 'node:events'
import { connect } from 'node:net'
import { addAbortSignal, type Duplex } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { DriverError, type Observation } from '../driver.ts'
import { getRunning, type MachineState } from './machine-state.ts'
import { ppmToPng } from './ppm.ts'
import type { Session } from './session.ts'
import { unlessLate } from './waiting.ts'

export function consoleVerbs(session: Session): Pick<Observation, 'openConsole' | 'screenshot'> {
  return {
    openConsole: async (vmId, type, signal) => {
      if (type === 'vnc' && session.root === undefined)
        throw new DriverError('unsupported', `Host ${session.hostId} is another machine: VNC is offered on this one only`, {
          sentence: 'This VM has a serial console only.',
        })
      const machine = await getRunning(session, vmId, signal)
      return type === 'vnc' ? openVnc(session, machine, signal) : openSerial(session, machine, signal)
    },

    screenshot: async (vmId, signal) => {
      const { domain } = await getRunning(session, vmId, signal)
      const { type, bytes } = await session.call(`look at the screen of ${vmId}`, signal, async (host) => {
        const picture = await host.domains.screenshot({ domain })
        return { type: picture.reply, bytes: await buffer(picture) }
      })
      const png = type === 'image/png' ? bytes : ppmToPng(bytes)
      if (!png) throw new DriverError('unsupported', `The screen of ${vmId} on host ${session.hostId} came as ${type}`)
      return png
    },
  }
}

const openSerial = ({ call }: Session, { domain }: MachineState, signal: AbortSignal): Promise<Duplex> =>
  call(`open the serial console of ${domain.name}`, signal, async (host) =>
    unlessLate(await host.domains.openConsole({ domain, flags: ['force'] }), signal),
  )

/** QEMU listens on a socket in the file system: nothing is open to the network. */
async function openVnc({ call, root = '', hostId, closing }: Session, { domain, xml }: MachineState, signal: AbortSignal): Promise<Duplex> {
  const graphics = xml.all('devices/graphics').find((each) => each.attributes['type'] === 'vnc')
  const path = graphics?.attributes['socket'] ?? graphics?.attribute('listen/socket')
  if (!path) throw new DriverError('unsupported', `${domain.name} on host ${hostId} has no screen to connect to`)
  return call(`open the screen of ${domain.name}`, signal, async () => {
    const socket = connect(`${root}${path}`)
    await once(socket, 'connect')
    return unlessLate(addAbortSignal(closing, socket), signal)
  })
}
