// A guest run by QEMU without libvirt, to test an image alone. It uses QEMU's user networking with a port forwarded to its sshd.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { env, run } from '../../libvirt/test/command.ts'
import type { Arch } from '../src/kernel/arch.ts'
import { seedImage } from '../src/hypervisor/libvirt/storage/cloud-init.ts'
import type { MachineSpec } from '../src/hypervisor/driver.ts'
import { someSpec } from '../src/hypervisor/simulated/test-fixture.ts'
import { hashGuestPassword } from '../src/features/vms/model/guest-password.ts'
import { eventually } from './processes.ts'

/** Generous, for emulated guests on a loaded machine. */
const TIMEOUT_MS = 600_000
export const PASSWORD = 'correct horse'

const MAC = '52:54:00:aa:00:01'

export interface GuestDisk {
  folder: string
  arch: Arch
  ramMiB: number
  key: string
  remove(): Promise<void>
}

/** A disk on the image, larger than it, with its own seed and key. */
export async function guestDisk(
  image: { path: string; arch: Arch },
  hostname: string,
  options: { gib: number; ramMiB: number },
): Promise<GuestDisk> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-guest-'))
  const key = join(folder, 'key')
  await run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  const [type, base64] = (await readFile(`${key}.pub`, 'utf8')).split(' ')
  const nics: MachineSpec['nics'] = [
    {
      mac: MAC,
      kind: 'public',
      networkId: null,
      ipv4: { address: '10.0.2.15', prefix: 24, gateway: '10.0.2.2' },
      ipv6: { address: 'fec0::77', prefix: 64, gateway: 'fec0::2' },
      dns: ['10.0.2.3'],
    },
  ]
  const seed = { hostname, user: 'root', sshKeys: [`${type} ${base64}`], passwordHash: await hashGuestPassword('a', PASSWORD) }
  await writeFile(join(folder, 'seed.iso'), seedImage(someSpec({ vmId: `c${hostname}`, seed, nics })))
  await run('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'qcow2', '-b', image.path, join(folder, 'disk.qcow2'), `${options.gib}G`)
  if (image.arch === 'aarch64') await copyFile('/usr/share/AAVMF/AAVMF_VARS.fd', join(folder, 'vars.fd'))
  return { folder, arch: image.arch, ramMiB: options.ramMiB, key, remove: () => rm(folder, { recursive: true, force: true }) }
}

export type Guest = Awaited<ReturnType<typeof bootGuest>>

/** Resolves when its agent responds. */
export async function bootGuest(disk: GuestDisk) {
  const port = await freePort()
  const child = spawn(`qemu-system-${disk.arch}`, qemuArguments(disk, port), { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const over = gone(child)
  over.catch(() => {}) // an exit that nobody awaits is no failure
  const monitor = await ask(disk, over, 'qmp.sock')
  await monitor('qmp_capabilities')
  const agent = await ask(disk, over, 'agent.sock')
  await Promise.race([agent('guest-ping'), over, deadline('The agent has not answered')])
  return {
    agent,
    monitor,
    ssh: (command: string) => run('ssh', ...SSH, '-o', 'BatchMode=yes', '-p', String(port), '-i', disk.key, 'root@127.0.0.1', command),
    sshByPassword: (password: string, command: string) => sshByPassword(disk, port, password, command),
    hostKey: async () => (await run('ssh-keyscan', '-T', '60', '-t', 'ed25519', '-p', String(port), '127.0.0.1')).split(' ')[2]!,
    /** Resolves when the process has exited. */
    ended: () => (child.exitCode === null ? once(child, 'exit').then(() => {}) : Promise.resolve()),
    kill: () => child.kill('SIGKILL'),
  }
}

const SSH = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR', '-o', 'ConnectTimeout=60']

async function sshByPassword({ folder }: GuestDisk, port: number, password: string, command: string): Promise<string> {
  const askpass = join(folder, 'askpass')
  await writeFile(askpass, `#!/bin/sh\nprintf '%s\\n' '${password}'\n`, { mode: 0o700 })
  const asked = [`SSH_ASKPASS=${askpass}`, 'SSH_ASKPASS_REQUIRE=force', 'DISPLAY=none', 'setsid', '-w', 'ssh', ...SSH]
  return run('env', ...asked, '-o', 'PubkeyAuthentication=no', '-p', String(port), 'root@127.0.0.1', command)
}

function qemuArguments({ folder, arch, ramMiB }: GuestDisk, port: number): string[] {
  const at = (name: string): string => join(folder, name)
  const pflash = (unit: number, file: string, more = ''): string[] => ['-drive', `if=pflash,unit=${unit},format=raw,file=${file}${more}`]
  const machine =
    arch === 'aarch64'
      ? [
          '-machine',
          'virt',
          '-cpu',
          'cortex-a57',
          '-boot',
          'menu=on,splash-time=0',
          ...pflash(0, '/usr/share/AAVMF/AAVMF_CODE.fd', ',readonly=on'),
          ...pflash(1, at('vars.fd')),
        ]
      : ['-machine', 'q35', '-cpu', 'Nehalem']
  return [
    machine,
    ['-accel', 'tcg', '-m', String(ramMiB), '-nodefaults', '-display', 'none', '-serial', `file:${at('serial.log')}`],
    ['-drive', `if=none,id=disk,file=${at('disk.qcow2')},format=qcow2`, '-device', 'virtio-blk-pci,drive=disk,bootindex=1'],
    ['-drive', `if=none,id=seed,file=${at('seed.iso')},format=raw,readonly=on`, '-device', 'virtio-blk-pci,drive=seed'],
    ['-netdev', `user,id=net,hostfwd=tcp:127.0.0.1:${port}-10.0.2.15:22`, '-device', `virtio-net-pci,netdev=net,mac=${MAC},romfile=`],
    ['-device', 'pcie-root-port,id=spare,chassis=1,slot=1', '-device', 'pcie-root-port,id=spare-2,chassis=2,slot=2'],
    ['-device', 'virtio-rng-pci', '-device', 'virtio-serial-pci'],
    ['-chardev', `socket,id=agent,path=${at('agent.sock')},server=on,wait=off`],
    ['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
    ['-qmp', `unix:${at('qmp.sock')},server=on,wait=off`],
  ].flat()
}

type Ask = <T = unknown>(execute: string, args?: object) => Promise<T>

/** QMP and the guest agent protocol: one line of JSON each way, one at a time. Events are skipped. */
async function ask({ folder }: GuestDisk, over: Promise<never>, name: string): Promise<Ask> {
  const socket = await eventually(() => Promise.race([open(join(folder, name)), over]), 60_000)
  const answers = createInterface({ input: socket })[Symbol.asyncIterator]()
  return async <T>(execute: string, args: object = {}): Promise<T> => {
    socket.write(`${JSON.stringify({ execute, arguments: args })}\n`)
    for (;;) {
      const { value, done } = await answers.next()
      if (done) throw new Error(`The guest ended while ${execute} was asked`)
      const answer = JSON.parse(value) as { return?: T; error?: { desc: string } }
      if (answer.error) throw new Error(`${execute}: ${answer.error.desc}`)
      if ('return' in answer) return answer.return as T
    }
  }
}

async function open(path: string): Promise<Socket | null> {
  const socket = connect(path)
  return Promise.race([once(socket, 'connect').then(() => socket), once(socket, 'error').then(() => null)]).catch(() => null) // QEMU creates the socket shortly after its start
}

const deadline = async (sentence: string): Promise<never> => {
  await setTimeout(TIMEOUT_MS, undefined, { ref: false })
  throw new Error(sentence)
}

const gone = async (child: ChildProcess): Promise<never> => {
  await once(child, 'exit')
  throw new Error('QEMU has ended')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
