// The same guest by virsh alone: define, start, and a ping that its agent answers. Its disk and seed are there before the clock starts; a disk in
// Ceph is cloned by it.
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../libvirt/test/sandboxed-libvirtd.ts'
import type { CephStage } from './boot-product.ts'

const NAME = 'bare'
const [DISK, SEED] = ['/var/lib/libvirt/images/bare.qcow2', '/var/lib/libvirt/images/bare.iso']
const TIMEOUT_S = 300

export interface Bare {
  /** Milliseconds until its agent has answered. */
  boot(): Promise<number>
}

/** Of the shape that the VM has, under another name and without its port: nothing passes its interface. */
export async function bareLike(vmId: string, sandbox: Sandbox, ceph?: CephStage): Promise<Bare> {
  const xml = await sandbox.virsh('dumpxml', '--inactive', `berth-${vmId}`)
  const files = [...xml.matchAll(/<source file='([^']+)'/g)].map(([, path]) => path!)
  if (ceph) return cloned(xml, files[0]!, sandbox, ceph)
  // The disk, the template under it, the seed.
  const [disk = '', , seed = ''] = files
  const { 'backing-filename': backing, 'virtual-size': size } = JSON.parse(
    await sandbox.inside('qemu-img', 'info', '--force-share', '--output=json', disk),
  ) as { 'backing-filename': string; 'virtual-size': number }
  await sandbox.inside('cp', seed, SEED)
  const file = join(sandbox.folder, 'bare.xml')
  await writeFile(file, bareXml(xml).replace(disk, DISK).replace(seed, SEED))
  const layer = ['-q', '-f', 'qcow2', '-F', 'qcow2', '-b', backing, DISK, String(size)]
  return {
    boot: async () => {
      await sandbox.inside('qemu-img', 'create', ...layer)
      return bootBare(sandbox, file, performance.now())
    },
  }
}

async function cloned(xml: string, seed: string, sandbox: Sandbox, { cluster, backend }: CephStage): Promise<Bare> {
  const image = /<source protocol='rbd' name='([^']+)'/.exec(xml)![1]!
  const { parent } = JSON.parse(await cluster.rbd('info', '--format=json', image)) as { parent: { image: string; snapshot: string } }
  const clone = `${backend.pool}/${NAME}`
  await sandbox.inside('cp', seed, SEED)
  const file = join(sandbox.folder, 'bare.xml')
  await writeFile(file, bareXml(xml).replace(image, clone).replace(seed, SEED))
  return {
    boot: async () => {
      const begun = performance.now()
      await cluster.rbd('clone', '--rbd-default-clone-format=2', `${backend.pool}/${parent.image}@${parent.snapshot}`, clone)
      const tookMs = await bootBare(sandbox, file, begun)
      await cluster.rbd('rm', '--no-progress', clone)
      return tookMs
    },
  }
}

async function bootBare(sandbox: Sandbox, file: string, begun: number): Promise<number> {
  await sandbox.virsh('define', file)
  await Promise.all([agentOf(sandbox), sandbox.virsh('start', NAME)])
  await sandbox.virsh('qemu-agent-command', NAME, '{"execute":"guest-ping"}')
  const tookMs = performance.now() - begun
  await sandbox.virsh('destroy', NAME)
  await sandbox.virsh('undefine', '--nvram', NAME)
  return tookMs
}

const bareXml = (xml: string): string =>
  xml
    .replace(/<name>[^<]+/, `<name>${NAME}`)
    .replace(/<uuid>.*<\/uuid>|<nvram.*<\/nvram>/g, '')
    .replace(/<metadata>.*<\/metadata>/s, '')

/** Until the guest has opened its end of the channel. */
async function agentOf({ socket }: Sandbox): Promise<void> {
  const command = ['virsh', '-c', `qemu+unix:///system?socket=${socket}`, 'event', '--loop', '--timeout', String(TIMEOUT_S)]
  const child = spawn('stdbuf', ['-oL', ...command, '--domain', NAME, '--event', 'agent-lifecycle'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of child.stdout.setEncoding('utf8')) if (/ state: 'connected'/.test(line as string)) return void child.kill()
  throw new Error(`The agent was not there within ${TIMEOUT_S} s`)
}
