import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { failure, isService, ok, warning, type Check } from './check.ts'

const MIN_NODE = 24

export const node: Check = async () =>
  Number.parseInt(process.versions.node) >= MIN_NODE
    ? ok(`Node ${process.versions.node}`)
    : failure(`Node ${process.versions.node} is too old`, `npm ci installs Node ${MIN_NODE} beside the product`)

export const dataFolder: Check = async ({ dataDir }) => {
  const folder = await nearestFolder(dataDir)
  const can = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!can) return failure(`${folder} is not writable`, `chown it to this user, or set BERTH_DATA_DIR to another folder than ${dataDir}`)
  return ok(folder === dataDir ? `data folder ${dataDir}` : `data folder ${dataDir}, created at the first start`)
}

const GB = 1e9

export const disk: Check = async ({ dataDir }) => {
  const { bavail, bsize } = await statfs(await nearestFolder(dataDir))
  const free = (bavail * bsize) / GB
  const message = `${free.toFixed(1)} GB free for the data`
  if (free < 0.5) return failure(message, 'free some space, or set BERTH_DATA_DIR to a folder on another disk')
  return free < 5 ? warning(message, 'the database, its logs and images will need more') : ok(message)
}

/** The folder, or its nearest existing parent. */
async function nearestFolder(path: string): Promise<string> {
  const there = await access(path).then(
    () => true,
    () => false,
  )
  return there || dirname(path) === path ? path : nearestFolder(dirname(path))
}

/** What `npm start` would use on new data. */
export const hypervisor: Check = async (config) => {
  const { hypervisor: setting } = config
  if (isService(config))
    return ok('VMs are real, on hosts that are reached over TLS; a host looks at itself: sudo npx berthd host prepare --dry-run')
  if (setting === 'simulated') return ok('simulated hypervisor, as BERTH_HYPERVISOR says')
  if (process.getuid?.() === 0) return ok('VMs are real: libvirt on this machine')
  const fix = 'sudo npm start, or BERTH_HYPERVISOR=simulated'
  return setting === 'libvirt' ? failure('real VMs need root', fix) : warning('VMs are simulated on new data: real ones need root', fix)
}
