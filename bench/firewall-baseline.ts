// The same changes by virsh alone: the filter of a VM with other ports in it.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../libvirt/test/sandboxed-libvirtd.ts'

export interface Change {
  /** Milliseconds until libvirt has done it. */
  apply(): Promise<number>
}

/** Ports of rules as the bench makes them, 2xxxx; these are others of the same length. */
const withOtherPorts = (xml: string): string => xml.replace(/(dstport\w+=')2(\d{4})/g, '$13$2')

export async function bareChange(vmId: string, sandbox: Sandbox): Promise<Change> {
  const file = join(sandbox.folder, `filter-${vmId}.xml`)
  await writeFile(file, withOtherPorts(await sandbox.virsh('nwfilter-dumpxml', `berth-vm-${vmId}`)))
  return {
    async apply() {
      const begun = performance.now()
      await sandbox.virsh('nwfilter-define', file)
      return performance.now() - begun
    },
  }
}
