// Serial and VNC consoles, and screenshots.
import { addAbortSignal, type Duplex } from 'node:stream'
import { DriverError, type Monitoring } from '../../driver.ts'
import { getRunning, type MachineState } from '../domain/lookup.ts'
import { ppmToPng } from './ppm.ts'
import type { HostContext } from '../core/host-context.ts'
import { destroyIfAborted } from '../core/abortable.ts'

export function consoleMethods(context: HostContext): Pick<Monitoring, 'openConsole' | 'screenshot'> {
  return {
    openConsole: async (vmId, type, signal) => {
      if (type === 'vnc' && context.root === undefined)
        throw new DriverError('unsupported', `Host ${context.hostId} is remote: VNC is available on the local host only`, {
          userMessage: 'VNC is not available for this VM. Use the serial console.',
        })
      const machine = await getRunning(context, vmId, signal)
      return type === 'vnc' ? openVnc(context, machine, signal) : openSerial(context, machine, signal)
    },

    screenshot: async (vmId, signal) => {
      const { domain } = await getRunning(context, vmId, signal)
      const { type, bytes } = await context.call(`take a screenshot of ${vmId}`, signal, async (host) => {
        const picture = await host.domains.screenshot({ domain })
        return { type: picture.reply, bytes: await readPicture(picture) }
      })
      const png = type === 'image/png' ? bytes : ppmToPng(bytes)
      if (!png) throw new DriverError('unsupported', `The screenshot of ${vmId} on host ${context.hostId} has the unknown type ${type}`)
      return png
    },
  }
}

/** Twice as much as the memory of a PC's graphics card holds. Where that is the guest's memory, as with ramfb, the guest decides. */
const MAX_PICTURE_BYTES = 32 * 2 ** 20

export async function readPicture(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > MAX_PICTURE_BYTES) throw new DriverError('unsupported', `The screenshot has more than ${MAX_PICTURE_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const openSerial = ({ call }: HostContext, { domain }: MachineState, signal: AbortSignal): Promise<Duplex> =>
  call(`open the serial console of ${domain.name}`, signal, async (host) =>
    destroyIfAborted(await host.domains.openConsole({ domain, flags: ['force'] }), signal),
  )

/** QEMU listens on a unix socket: nothing is open to the network. */
async function openVnc(
  { call, root = '', connect, hostId, closing }: HostContext,
  { domain, xml }: MachineState,
  signal: AbortSignal,
): Promise<Duplex> {
  const graphics = xml.all('devices/graphics').find((each) => each.attributes['type'] === 'vnc')
  const path = graphics?.attributes['socket'] ?? graphics?.attribute('listen/socket')
  if (!path) throw new DriverError('unsupported', `${domain.name} on host ${hostId} has no VNC socket`)
  return call(`open the screen of ${domain.name}`, signal, async () => {
    const socket = await connect(`${root}${path}`)
    return destroyIfAborted(addAbortSignal(closing, socket), signal)
  })
}
