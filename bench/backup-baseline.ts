// The same copies by virsh and qemu-img alone, of the same running guest.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../libvirt/test/sandboxed-libvirtd.ts'

const FOLDER = '/var/lib/libvirt/images'

export interface BareBackup {
  /** Milliseconds until the job has ended. With `since`, what changed from there on. */
  begin(name: string, since?: string): Promise<number>
  convert(disk: string): Promise<number>
  forget(names: string[]): Promise<void>
}

export function bareBackups(domain: string, sandbox: Sandbox): BareBackup {
  const timed = async (script: string): Promise<number> => {
    const begun = performance.now()
    await sandbox.inside('sh', '-ec', script)
    return performance.now() - begun
  }
  return {
    begin: async (name, since) => {
      await writeFile(join(sandbox.folder, 'backup.xml'), jobXml(name, since))
      await writeFile(join(sandbox.folder, 'checkpoint.xml'), checkpointXml(name))
      const files = `${join(sandbox.folder, 'backup.xml')} ${join(sandbox.folder, 'checkpoint.xml')}`
      return timed(`virsh -q backup-begin ${domain} ${files}; while virsh domjobinfo ${domain} | grep -q Backup; do :; done
        virsh domjobinfo ${domain} --completed --anystats | grep -q Completed`)
    },
    convert: (disk) => timed(`qemu-img convert -U -O qcow2 ${disk} ${FOLDER}/converted.qcow2; rm ${FOLDER}/converted.qcow2`),
    forget: async (names) => {
      for (const name of names.toReversed()) await sandbox.virsh('checkpoint-delete', domain, name)
      await sandbox.inside('rm', ...names.map((name) => `${FOLDER}/${name}.qcow2`))
    },
  }
}

const jobXml = (name: string, since?: string): string => `<domainbackup mode='push'>${since ? `<incremental>${since}</incremental>` : ''}
  <disks><disk name='vda' backup='yes' type='file'><target file='${FOLDER}/${name}.qcow2'/><driver type='qcow2'/></disk>
  <disk name='vdb' backup='no'/></disks></domainbackup>`

const checkpointXml = (name: string): string => `<domaincheckpoint><name>${name}</name>
  <disks><disk name='vda' checkpoint='bitmap'/><disk name='vdb' checkpoint='no'/></disks></domaincheckpoint>`
