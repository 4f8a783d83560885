// A copy of a machine that is off, by the host. QEMU does not start on a disk that is being read.
import { ErrorCode, hasCode, type Host } from '@berth/libvirt'
import { diskPathOf } from './checkpoints.ts'
import { orMissing } from './errors.ts'
import type { MachineState } from './machine-state.ts'
import { POOL } from './names.ts'
import type { Session } from './session.ts'
import { COPY_MS, isSoonWhole, volumeXml } from './volumes.ts'

/** Resolves also when another process made it meanwhile. */
export const copyAtRest = (session: Session, name: string, { xml }: MachineState, signal: AbortSignal): Promise<void> =>
  session.alone(QUEUE, signal, () => copyDisk(session, name, diskPathOf(xml), signal))

/** Each holds one of the few calls that a daemon answers at a time, for as long as it takes. */
const QUEUE = 'copies at rest'

async function copyDisk(session: Session, name: string, path: string, signal: AbortSignal): Promise<void> {
  while (!(await session.call(`copy to ${name}`, signal, (host) => copy(host, path, name)))) {
    if (await isSoonWhole(session, name, signal)) return
    await session.call(`remove ${name}`, signal, (host) => removeUnlessBusy(host, name))
  }
}

/** False when there is something of that name. */
async function copy(host: Host, path: string, name: string): Promise<boolean> {
  const pool = await host.pools.lookupByName({ name: POOL })
  const from = await host.volumes.lookupByPath({ path })
  const { capacity } = await host.volumes.getInfo({ volume: from })
  const { xml } = volumeXml({ name, format: 'qcow2', capacityBytes: Number(capacity) })
  return host.volumes.createFrom({ pool, xml, from }, { timeoutMs: COPY_MS }).then(
    () => true,
    (error: unknown) => {
      if (!hasCode(error, ErrorCode.volumeExists) && !/already in use/.test(String(error))) throw error
      return false
    },
  )
}

async function removeUnlessBusy(host: Host, name: string): Promise<void> {
  const volume = await orMissing(host.volumes.lookupByName({ pool: await host.pools.lookupByName({ name: POOL }), name }))
  if (!volume) return
  await orMissing(host.volumes.delete({ volume })).catch((error: unknown) => {
    if (!hasCode(error, ErrorCode.operationInvalid)) throw error // it is being made
  })
}
