// Sandboxed hosts added like remote machines: a certificate, `host prepare` on the machine, `host add` over TLS. The first one has the region's
// network controller, whose sockets the others reach as files.
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from '../../libvirt/test/sandboxed-libvirtd.ts'
import type { Sandboxes } from '../../libvirt/test/sandbox-fleet.ts'
import { berthdJson, type Settings } from './processes.ts'

const BERTHD = join(import.meta.dirname, '../bin/berthd.mjs')

export interface TlsHost {
  id: string
  name: string
  sandbox: Sandbox
  /** Disconnects and reconnects the link to us. Guests are not affected. */
  cutOff(): Promise<unknown>
  reconnect(): Promise<unknown>
}

export async function tlsHosts(sandboxes: Sandboxes, settings: Settings, names: string[]): Promise<TlsHost[]> {
  const hosts: TlsHost[] = []
  for (const name of names) hosts.push(await joinFleet(settings, name, await sandboxes.add(), hosts[0]?.sandbox))
  return hosts
}

async function joinFleet(settings: Settings, name: string, sandbox: Sandbox, central: Sandbox = sandbox): Promise<TlsHost> {
  await asPackaged(sandbox)
  const bundle = join(sandbox.folder, 'bundle')
  const { range } = await berthdJson(settings, 'host', 'certificate', '--address', sandbox.address, '--out', bundle)
  const line = [process.execPath, BERTHD, 'host', 'prepare', '--json', '--certificate', bundle].join(' ')
  await sandbox.inside('sh', '-ec', `unset ${Object.keys(settings).join(' ')}; ${line} >&2`)
  await rm(bundle)
  const sockets = join(central.folder, 'ovn/run')
  await sandbox.inside('ovs-vsctl', 'set', 'Open_vSwitch', '.', `external_ids:ovn-remote=unix:${sockets}/ovnsb_db.sock`)
  const networks = ['--network-controller', `unix:${sockets}`, '--range', range!]
  const { id } = await berthdJson(settings, 'host', 'add', `qemu+tls://${sandbox.address}/system`, '--name', name, ...networks)
  const link = (state: 'up' | 'down') => sandbox.inside('ip', 'link', 'set', 'mgmt0', state)
  return { id: id!, name, sandbox, cutOff: () => link('down'), reconnect: () => link('up') }
}

/** Without the daemons and settings of the sandbox. */
async function asPackaged(sandbox: Sandbox): Promise<void> {
  const end = 'kill $(cat /run/libvirt/libvirtd.pid) $(cat /run/libvirt/virtlogd.pid); while pgrep -x libvirtd; do sleep 0.1; done'
  await sandbox.inside('sh', '-c', end)
  await writeFile(join(sandbox.folder, 'etc/libvirtd.conf'), '')
  await writeFile(join(sandbox.folder, 'etc/qemu.conf'), 'user = "root"\ngroup = "root"\nsecurity_driver = "none"\n')
}
