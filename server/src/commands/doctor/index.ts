// `doctor` checks all prerequisites. It changes nothing, and every problem comes with its fix.
import type { Config } from '../../config.ts'
import { UsageError } from '../errors.ts'
import { findingLine, print, toJson } from '../output.ts'
import { backupTargets } from './backup-targets.ts'
import { isService, type Check, type Finding } from './check.ts'
import { clock, database, masterKey, migrations } from './database.ts'
import { controlPlaneBackups } from './control-plane-backups.ts'
import { ownImages } from './own-images.ts'
import { certificates } from './certificates.ts'
import { confinement, datapath, libvirt, natPorts, networkController, publicNetwork, qemu, range, storage } from './host.ts'
import { hosts } from './hosts.ts'
import { virtualisation } from './kvm.ts'
import { dataFolder, disk, hypervisor, node } from './machine.ts'
import { port, redis, reverseDns } from './network.ts'
import { overcommit } from './overcommit.ts'
import { reserve } from './reserve.ts'
import { storageBackends } from './storage-backends.ts'
import { templates } from './templates.ts'

const CHECKS: Record<string, Check> = {
  node,
  data: dataFolder,
  disk,
  database,
  migrations,
  clock,
  key: masterKey,
  port,
  redis,
  dns: reverseDns,
  hypervisor,
  kvm: virtualisation,
  qemu,
  libvirt,
  confinement,
  pool: storage,
  reserve,
  overcommit,
  storage: storageBackends,
  hosts,
  range,
  ovn: networkController,
  datapath,
  network: publicNetwork,
  nat: natPorts,
  certificates,
  templates,
  backups: backupTargets,
  'control-plane': controlPlaneBackups,
  images: ownImages,
}

/** Of this machine as a host. */
const OF_HOST = new Set(['kvm', 'qemu', 'libvirt', 'confinement', 'pool', 'range', 'ovn', 'datapath', 'network', 'nat'])

/** Returns the exit code: 1 when a failure must be fixed before Berth can work. */
export async function doctor(config: Config, topic: string | undefined, json: boolean): Promise<number> {
  if (topic !== undefined && !Object.hasOwn(CHECKS, topic)) {
    throw new UsageError(`There is no check named "${topic}". The checks are: ${Object.keys(CHECKS).join(', ')}`)
  }
  const findings = await examine(config, topic)
  const ok = findings.every(({ status }) => status !== 'failure')
  if (json) print(toJson({ ok, checks: findings }))
  else for (const finding of findings) print(findingLine(finding))
  return ok ? 0 : 1
}

export async function examine(config: Config, topic?: string): Promise<(Finding & { check: string })[]> {
  const findings: (Finding & { check: string })[] = []
  for (const [check, look] of Object.entries(CHECKS)) {
    const isDue = topic === undefined ? !(isService(config) && OF_HOST.has(check)) : topic === check
    if (isDue) findings.push({ check, ...(await look(config)) })
  }
  return findings
}
