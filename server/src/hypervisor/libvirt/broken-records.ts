// A disk keeps records of what changed since its backups. While QEMU has the disk open they are marked as in use, and one that died leaves
// them so: broken, of no use to anybody, and in the way, because QEMU grows no disk that has such a record.
import type { Domain, Host } from '@berth/libvirt'
import { isDriverError } from '../driver.ts'
import type { HostContext } from './session.ts'

export const isBlockedByBitmap = (error: unknown): boolean => isDriverError(error) && /bitmap .* is inconsistent/i.test(error.message)

interface Node {
  'node-name': string
  ro: boolean
  'dirty-bitmaps'?: { name: string; inconsistent?: boolean }[]
}

/** Of a machine that is on. libvirt itself removes only what it has a checkpoint of. */
export const removeInconsistentBitmaps = ({ call, log, hostId }: HostContext, domain: Domain, signal: AbortSignal): Promise<void> =>
  call(`remove broken records of changes of ${domain.name}`, signal, async (host) => {
    const nodes = (await ask(host, domain, 'query-named-block-nodes', { flat: true })) as Node[]
    for (const { 'node-name': node, ro, 'dirty-bitmaps': records = [] } of nodes)
      for (const { name, inconsistent } of records) {
        if (ro || !inconsistent) continue
        await ask(host, domain, 'block-dirty-bitmap-remove', { node, name })
        log.info({ hostId, domain: domain.name, record: name }, 'a record of changes that a crash broke was removed')
      }
  })

async function ask(host: Host, domain: Domain, execute: string, args: Record<string, unknown>): Promise<unknown> {
  const answer = await host.guests.monitorCommand({ domain, command: JSON.stringify({ execute, arguments: args }) })
  const { return: given, error } = JSON.parse(answer) as { return?: unknown; error?: { desc: string } }
  if (error) throw new Error(`${execute}: ${error.desc}`)
  return given
}
