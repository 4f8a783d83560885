// A Ceph cluster of this machine: a monitor, a manager and OSDs that keep their data in memory, without systemd, in a folder of its own. Nothing
// of it is in /etc, /var or /run, so clusters do not see each other.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { env, missingCommands, run } from '../../libvirt/test/command.ts'
import { eventually } from '../../libvirt/test/eventually.ts'
import type { RbdBackend } from '../src/hypervisor/rbd/access.ts'
import { newId } from '../src/kernel/ids.ts'
import { freePort } from './free-port.ts'
import { scratchFolder } from './scratch-folder.ts'

/** Says why no such cluster can run here. */
export const missingForCeph = (): string | undefined => missingCommands('ceph-mon', 'ceph-mgr', 'ceph-osd', 'ceph', 'rbd', 'ceph-authtool')

export interface CephCluster {
  /** A pool with a user of its own, who may use no other. */
  addPool(): Promise<RbdBackend>
  /** Both as the administrator. */
  ceph(...args: string[]): Promise<string>
  rbd(...args: string[]): Promise<string>
  /** One more program of the cluster, which ends with it; `section` is its own of the configuration. */
  startClient(command: string, name: string, section: string): Promise<void>
  /** A program for administrators. */
  runAdmin(command: string, ...args: string[]): Promise<string>
  /** What a program has logged. */
  logOf(name: string): Promise<string>
  /** As in `kill -9`. */
  killOsd(number: number): Promise<void>
  close(): Promise<void>
}

export interface CephOptions {
  /** Of this machine; guests in sandboxes do not reach the loopback. */
  address?: string
  /** Each holds a copy of everything. */
  osds?: number
  /** Placement groups of pools that programs make: with few they are ready soon. */
  groupsPerPool?: number
}

export async function startCeph({ address = '127.0.0.1', osds = 1, groupsPerPool = 8 }: CephOptions = {}): Promise<CephCluster> {
  const folder = await scratchFolder()
  const path = (...parts: string[]): string => join(folder.path, ...parts)
  const monitor = `${address}:${await freePort()}`
  const [conf, admin, fsid] = [path('ceph.conf'), path('admin.keyring'), randomUUID()]
  const daemons: ChildProcess[] = []
  const ceph = (...args: string[]): Promise<string> => run('ceph', '-c', conf, ...args)
  const rbd = (...args: string[]): Promise<string> => run('rbd', '-c', conf, ...args)
  const newFolder = async (name: string): Promise<string> => {
    await mkdir(path(name))
    return path(name)
  }
  const start = (command: string, id: string): ChildProcess => {
    // In the folder, so that it ends with it.
    const daemon = spawn(command, ['-f', '-c', conf, '-i', id], { env, cwd: path('run'), stdio: 'ignore' })
    daemons.push(daemon)
    return daemon
  }
  const caps = ['--cap', 'mon', 'allow *', '--cap', 'osd', 'allow *', '--cap', 'mgr', 'allow *']

  await newFolder('run')
  await writeFile(conf, confText({ folder: folder.path, fsid, monitor, address, admin, osds, groupsPerPool }))
  const monitorKeys = path('monitor.keyring')
  await run('ceph-authtool', '--create-keyring', monitorKeys, '--gen-key', '-n', 'mon.', '--cap', 'mon', 'allow *')
  await run('ceph-authtool', '--create-keyring', admin, '--gen-key', '-n', 'client.admin', ...caps)
  await run('ceph-authtool', monitorKeys, '--import-keyring', admin)
  await run('monmaptool', '--create', '--addv', 'a', `[v2:${monitor}]`, '--fsid', fsid, path('monmap'))
  await newFolder('mon.a')
  await run('ceph-mon', '-c', conf, '--mkfs', '-i', 'a', '--monmap', path('monmap'), '--keyring', monitorKeys)
  start('ceph-mon', 'a')

  await newFolder('mgr.x')
  const managerKeys = await ceph('auth', 'get-or-create', 'mgr.x', 'mon', 'allow profile mgr', 'osd', 'allow *')
  await writeFile(path('mgr.x/keyring'), managerKeys)
  start('ceph-mgr', 'x')

  const stores = await Promise.all(
    Array.from({ length: osds }, async (_, number) => {
      const [uuid, id] = [randomUUID(), String(number)]
      const key = (await run('ceph-authtool', '--gen-print-key')).trim()
      const secrets = path(`osd.${id}.json`)
      await writeFile(secrets, JSON.stringify({ cephx_secret: key }))
      await ceph('osd', 'new', uuid, id, '-i', secrets)
      const keyring = join(await newFolder(`osd.${id}`), 'keyring')
      await run('ceph-authtool', '--create-keyring', keyring, '--name', `osd.${id}`, '--add-key', key)
      await run('ceph-osd', '-c', conf, '-i', id, '--mkfs', '--osd-uuid', uuid)
      return start('ceph-osd', id)
    }),
  )
  const areUp = async (): Promise<boolean> => {
    const { num_up_osds: up } = JSON.parse(await ceph('osd', 'stat', '-f', 'json')) as { num_up_osds: number }
    return up === osds
  }
  await eventually('the OSDs', areUp, 60_000)

  return {
    ceph,
    rbd,
    async addPool() {
      const id = newId()
      const [pool, user] = [`pool-${id}`, `berth-${id}`]
      await ceph('osd', 'pool', 'create', pool, '8')
      await rbd('pool', 'init', pool)
      const profile = `profile rbd pool=${pool}`
      const monitoring = 'profile rbd, allow command "osd blocklist"'
      await ceph('auth', 'get-or-create', `client.${user}`, 'mon', monitoring, 'osd', profile, 'mgr', profile)
      return { id, monitors: [monitor], pool, user, key: (await ceph('auth', 'get-key', `client.${user}`)).trim() }
    },
    async startClient(command, name, section) {
      const keyring = path(`${name}.keyring`)
      await ceph('auth', 'get-or-create', `client.${name}`, 'mon', 'allow rwx', 'osd', 'allow rwx', '-o', keyring)
      await appendFile(conf, `[client.${name}]\nkeyring = ${keyring}\n${section}`)
      daemons.push(spawn(command, ['-f', '-c', conf, '-n', `client.${name}`], { env, cwd: path('run'), stdio: 'ignore' }))
    },
    runAdmin: (command, ...args) => run(command, '-c', conf, ...args),
    logOf: (name) => readFile(path(`run/client.${name}.log`), 'utf8').catch(() => ''),
    killOsd: (number) => end(stores[number]!),
    async close() {
      await Promise.all(daemons.map(end))
      await folder.remove()
    },
  }
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const ended = once(daemon, 'exit')
  daemon.kill('SIGKILL')
  await ended
}

interface Settings {
  folder: string
  fsid: string
  monitor: string
  address: string
  admin: string
  osds: number
  groupsPerPool: number
}

/** Groups are few, and failures are noticed soon. */
const confText = ({ folder, fsid, monitor, address, admin, osds, groupsPerPool }: Settings): string => `[global]
fsid = ${fsid}
mon_host = [v2:${monitor}]
public_addr = ${address}
cluster_addr = ${address}
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
auth_allow_insecure_global_id_reclaim = false
osd_pool_default_size = ${osds}
osd_pool_default_min_size = 1
osd_pool_default_pg_num = ${groupsPerPool}
osd_pool_default_pgp_num = ${groupsPerPool}
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_warn_on_pool_no_redundancy = false
mon_data_avail_warn = 1
mon_data_avail_crit = 1
chdir =
run_dir = ${folder}/run
admin_socket = ${folder}/run/$cluster-$name.$pid.asok
crash_dir = ${folder}/run
log_file = ${folder}/run/$name.log
keyring = ${admin}
[mon]
mon_data = ${folder}/mon.$id
keyring = ${folder}/mon.$id/keyring
mon_initial_members = a
[mgr]
mgr_data = ${folder}/mgr.$id
keyring = ${folder}/mgr.$id/keyring
mgr_initial_modules =
[osd]
osd_data = ${folder}/osd.$id
keyring = ${folder}/osd.$id/keyring
osd_objectstore = memstore
memstore_device_bytes = 8589934592
osd_class_load_list = *
osd_class_default_list = *
`
