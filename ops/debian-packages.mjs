// Debian packages that each command needs. If one cannot be installed, a warning says what is not available, and the command continues.
import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runQuietly, step, warn } from './progress.mjs'

/** `package`: one or more names; `command` and `also`: executables, or paths of files, that show that they are installed; `service`: the units of the packages, which are disabled unless the machine had them before. */
const redis = {
  package: 'redis-server',
  command: 'redis-server',
  service: 'redis-server',
  without: 'rate limits shared through Redis are not tested',
}

const openssl = { package: 'openssl', command: 'openssl', without: 'TLS connections are not tested' }

/** Packages of hosts and of template builds by architecture, shared with `berthd host prepare`. */
const lists = JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../server/src/host-setup/packages.json'), 'utf8'))
const listed = (name) => [...lists[name].all, ...(lists[name][process.arch] ?? [])].join(' ')

const EMULATORS = { x64: 'qemu-system-x86_64', arm64: 'qemu-system-aarch64' }

const FIRMWARE = { x64: ['/usr/share/OVMF/OVMF_CODE_4M.fd'], arm64: ['/usr/share/AAVMF/AAVMF_CODE.fd'] }

const host = {
  package: listed('host'),
  command: EMULATORS[process.arch],
  also: [
    'libvirtd',
    'virtlogd',
    'ovs-vswitchd',
    'ovn-northd',
    'ovn-controller',
    'iptables',
    'ip',
    'ethtool',
    'openssl',
    'swtpm',
    'swtpm_setup',
    'tini',
    ...FIRMWARE[process.arch],
  ],
  service: 'libvirtd openvswitch-switch ovn-central ovn-host',
}
// Of the architecture that this machine is not.
const OTHER = process.arch === 'arm64' ? 'x64' : 'arm64'
const emulation = {
  package: listed('emulation'),
  command: EMULATORS[OTHER],
  also: FIRMWARE[OTHER],
}
const templates = { package: listed('templates'), command: 'mmdebstrap', also: ['sfdisk', 'grub-mkimage', 'mke2fs', 'mcopy', 'cpio'] }
const forVms = [
  { package: 'openssh-client', command: 'ssh', also: ['ssh-keygen'], without: 'quickstart cannot create an SSH key' },
  { ...host, without: 'VMs are simulated' },
  { ...templates, without: 'templates can be imported but not built' },
]
const forTests = [
  { ...host, without: 'real VMs are not tested' },
  { ...emulation, without: 'VMs of the other architecture are not tested' },
  { ...templates, without: 'template builds are not tested' },
]
const ssh = { package: 'openssh-client', command: 'ssh', also: ['ssh-keyscan'], without: 'SSH login to real VMs is not tested' }
const browser = { package: 'chromium', command: 'chromium', without: 'the dashboard is not tested in a browser' }
const foreignTemplates = {
  package: listed('foreignTemplates'),
  command: 'arch-test',
  also: ['qemu-aarch64-static'],
  without: 'Debian for the other architecture is not built',
}

// For networks of libvirt, which only its client is tested with.
const dnsmasq = { package: 'dnsmasq-base', command: 'dnsmasq', without: 'libvirt networks are not tested' }

const ovsdb = {
  package: 'openvswitch-common',
  command: 'ovsdb-server',
  also: ['ovsdb-tool', 'ovsdb-client', 'ovs-appctl'],
  without: 'the OVSDB client is not tested',
}

const powerdns = {
  package: 'pdns-server pdns-backend-sqlite3',
  command: 'pdns_server',
  service: 'pdns',
  without: 'reverse names are not tested with a name server',
}

// Of a cluster that proofs start themselves. Its packages take a minute to install, too long for every `npm test`.
const ceph = {
  package: 'ceph-mon ceph-mgr ceph-osd ceph-common radosgw',
  command: 'ceph-mon',
  also: ['ceph-mgr', 'ceph-osd', 'ceph', 'rbd', 'radosgw'],
  service: 'ceph.target',
  without: 'storage backends and backups in S3 are not tested with real servers',
}

// Of a database that fails over, which a proof starts on network namespaces.
const databaseCluster = {
  package: 'patroni etcd-server etcd-client haproxy postgresql-15',
  command: 'patroni',
  also: ['etcd', 'haproxy', '/usr/lib/postgresql/15/bin/postgres'],
  service: 'patroni etcd haproxy postgresql',
  without: 'databases that fail over are not tested',
}

// Of a Redfish emulator, which its proof installs itself.
const bindings = {
  package: 'python3-libvirt python3-venv',
  command: '/usr/lib/python3/dist-packages/libvirt.py',
  also: ['python3'],
  without: 'power controllers are not tested with a real implementation of Redfish',
}

// The image is read and run by the programs of others.
const containers = {
  package: 'crun skopeo umoci',
  command: 'crun',
  also: ['skopeo', 'umoci'],
  without: 'the OCI image is not tested',
}

const systemd = { package: 'systemd', command: 'systemd-analyze', without: 'the systemd units are not checked' }

// Its promtool evaluates the alert rules.
const prometheus = { package: 'prometheus', command: 'promtool', service: 'prometheus', without: 'alert rules are not tested' }

const manual = { package: 'man-db', command: 'man', also: ['groff'], without: 'manual pages are not checked' }

const examples = {
  package: 'curl perl python3',
  command: 'curl',
  also: ['perl', 'python3'],
  without: 'examples of the documentation are not tested',
}

const testNeeds = [redis, openssl, ssh, ovsdb, powerdns, systemd, prometheus, manual, examples, browser, ...forTests]
const needs = {
  start: process.env.BERTH_HYPERVISOR === 'simulated' ? [] : forVms,
  doctor: [],
  check: [],
  test: testNeeds,
  coverage: testNeeds,
  prove: [...testNeeds, ceph, foreignTemplates, dnsmasq, databaseCluster, bindings, containers],
}

export async function installPackages(purpose) {
  const missing = needs[purpose].filter((need) => ![need.command, ...(need.also ?? [])].every(isInstalled))
  if (missing.length === 0) return
  if (process.getuid?.() === 0 && isInstalled('apt-get')) await tryAptInstall(missing)
  else report(missing)
}

async function tryAptInstall(missing) {
  try {
    await step(labelOf(missing), () => aptInstall(missing))
  } catch (error) {
    if (error.interrupted) throw error
    report(missing)
  }
}

/** Long lists are shortened to one executable per package group. */
function labelOf(needs) {
  const names = needs.flatMap((need) => need.package.split(' '))
  return names.length > 4 ? `${names.length} packages: ${needs.map((need) => need.command).join(', ')}, …` : names.join(', ')
}

function report(missing) {
  for (const need of missing) warn(`no ${need.command}: ${need.without}`, `sudo apt-get install -y --no-install-recommends ${need.package}`)
}

async function aptInstall(missing) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
  const wait = ['-o', 'DPkg::Lock::Timeout=120']
  const services = missing.flatMap((need) => need.service?.split(' ') ?? []).filter((unit) => systemctl('cat', unit) !== 0)
  await withoutStartingServices(async () => {
    await runQuietly('apt-get', [...wait, '-qq', 'update'], env)
    await runQuietly(
      'apt-get',
      [...wait, '-qq', 'install', '-y', '--no-install-recommends', ...missing.flatMap((need) => need.package.split(' '))],
      env,
    )
  })
  if (services.length > 0) systemctl('disable', ...services)
}

function systemctl(...args) {
  return spawnSync('systemctl', ['--quiet', ...args], { stdio: 'ignore' }).status
}

/** Debian starts services during installation unless policy-rc.d forbids it. An existing policy of the machine is kept. */
async function withoutStartingServices(work) {
  const policy = '/usr/sbin/policy-rc.d'
  const ours = '#!/bin/sh\n# Until the Berth bootstrap has installed its packages.\nexit 101\n'
  const isOurs = existsSync(policy) && readFileSync(policy, 'utf8') === ours
  if (existsSync(policy) && !isOurs) return work()
  writeFileSync(policy, ours, { mode: 0o755 })
  try {
    return await work()
  } finally {
    rmSync(policy, { force: true })
  }
}

function isInstalled(name) {
  if (name.startsWith('/')) return existsSync(name)
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/sbin']
  return folders.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
