import { constants } from 'node:fs'
import { access, readFile, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { requireHypervisor } from '../hypervisor.ts'
import { failure, ok, warning, type Check } from './check.ts'

const LEAST_NODE = 24

export const node: Check = async () =>
  Number.parseInt(process.versions.node) >= LEAST_NODE
    ? ok(`Node ${process.versions.node}`)
    : failure(`Node ${process.versions.node} is too old`, `npm ci installs Node ${LEAST_NODE} beside the product`)

export const dataFolder: Check = async ({ dataDir }) => {
  const folder = await nearestFolder(dataDir)
  const can = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!can)
    return failure(`${folder} cannot be written to`, `chown it to this user, or set BERTH_DATA_DIR to another folder than ${dataDir}`)
  return ok(folder === dataDir ? `data folder ${dataDir}` : `data folder ${dataDir}, made at the first start`)
}

const GB = 1e9

export const disk: Check = async ({ dataDir }) => {
  const { bavail, bsize } = await statfs(await nearestFolder(dataDir))
  const free = (bavail * bsize) / GB
  const says = `${free.toFixed(1)} GB free for the data`
  if (free < 0.5) return failure(says, 'free some space, or set BERTH_DATA_DIR to a folder on another disk')
  return free < 5 ? warning(says, 'the database, its logs and images will need more') : ok(says)
}

/** The folder, or the first above it that exists. */
async function nearestFolder(path: string): Promise<string> {
  const there = await access(path).then(
    () => true,
    () => false,
  )
  return there || dirname(path) === path ? path : nearestFolder(dirname(path))
}

export const hypervisor: Check = async (config) => {
  try {
    return ok(`${requireHypervisor(config)} hypervisor`)
  } catch (error) {
    return failure((error as Error).message, 'unset BERTH_HYPERVISOR')
  }
}

/** Only information: without it VMs run, but are emulated. */
export const virtualisation: Check = async () => {
  const usable = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code ?? 'unknown',
  )
  if (usable === true) return ok('KVM can be used')
  if (usable === 'EACCES') return warning('KVM is there, but not for this user', 'add the user to the group kvm')
  const flags = await readFile('/proc/cpuinfo', 'utf8')
  const able = /\b(vmx|svm)\b/.test(flags)
  return warning(
    `no usable KVM: VMs run emulated, slower${able ? ', though the CPU could' : ''}`,
    able
      ? 'load the module: modprobe kvm_intel or kvm_amd'
      : 'switch on virtualisation in the firmware, or nested virtualisation where this machine is itself a VM',
  )
}
