// The procedures by area. `host.domains.lookupByName(…)` calls `areas.domains.lookupByName`.
import { connect, devices } from './connect.ts'
import { backups, blockJobs, checkpoints, snapshots } from './snapshots-backups.ts'
import { domains } from './domains.ts'
import { registration } from './events.ts'
import { guests } from './agent-monitor.ts'
import { migration } from './migration.ts'
import { filters, networks } from './networks.ts'
import { secrets } from './secrets.ts'
import { pools, volumes } from './storage.ts'

export const areas = {
  connect,
  devices,
  domains,
  networks,
  filters,
  pools,
  volumes,
  secrets,
  snapshots,
  blockJobs,
  backups,
  checkpoints,
  guests,
  migration,
  registration,
} as const
