import { once } from 'node:events'
import { chown, link, mkdir, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describeIf } from '../../../../libvirt/test/describe-if.ts'
import { scratchFolder, type ScratchFolder } from '../../../test/scratch-folder.ts'
import { openHostSocket } from './privileged.ts'

let folder: ScratchFolder
const servers: Server[] = []
const guest = (): string => join(folder.path, 'guest')
const open = (name: string): ReturnType<typeof openHostSocket> => openHostSocket(join(guest(), name), [/\/guest\/[^/]+$/])

async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.end('RFB 003.008\n')).listen(path)
  servers.push(server)
  await once(server, 'listening')
}

beforeAll(async () => {
  folder = await scratchFolder()
  await mkdir(guest())
  await listen(join(guest(), 'vnc.sock'))
  await listen(join(folder.path, 'root.sock'))
  await symlink('../root.sock', join(guest(), 'link'))
  await writeFile(join(guest(), 'file'), '')
})
afterAll(async () => {
  for (const server of servers) server.close()
  await folder.remove()
})

describe('openHostSocket', () => {
  test('connects, and leaves what the other side says first to the reader', async () => {
    expect(await text(await open('vnc.sock'))).toBe('RFB 003.008\n')
  })

  test.each([
    ['link', 'ELOOP|no socket'],
    ['file', 'no socket of the owner'],
    ['missing', 'ENOENT'],
  ])('refuses a %s', async (name, why) => {
    await expect(open(name)).rejects.toThrow(new RegExp(why))
  })

  test.each([
    '/run/docker.sock',
    '/run/libvirt/../docker.sock',
    '/var/lib/libvirt/qemu/a/../../../../run/vnc.sock',
    '/run/libvirt/libvirt-sock\0',
    '/run/ovn/ovn-northd.1.ctl',
    '/run/openvswitch/db.sock',
  ])('refuses %j, which is none of libvirt or OVN', async (path) => {
    await expect(openHostSocket(path)).rejects.toThrow('is no socket of libvirt or OVN')
  })

  describeIf(process.getuid!() === 0 ? undefined : 'only root can give a folder away')('in the folder of a guest', () => {
    test('refuses a socket of another user, such as a hard link to one of root', async () => {
      await link(join(folder.path, 'root.sock'), join(guest(), 'hard'))
      await chown(guest(), 65_534, 65_534)
      await expect(open('hard')).rejects.toThrow('no socket of the owner')
    })
  })
})
