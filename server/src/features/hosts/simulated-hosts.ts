// Further simulated hosts, to try out what takes several: moves, drains, placement groups, losses.
import type { Tx } from '../../kernel/database/db.ts'
import { apiError, invalid } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { getRegion } from '../catalog/service.ts'
import { HOST_NAME, joinSimulatedRegion } from './registration.ts'
import { findHost, insertHost, listHosts } from './sql.ts'

interface SimulatedHostOrder {
  name: string
  /** Id or slug. */
  region: string
  vcpu: number
  ramMiB: number
  diskGiB: number
}

/** Where a host is real, none is simulated: customers would get VMs that are not there. */
export async function addSimulatedHost(
  tx: Tx,
  now: Date,
  { name, region: wanted, vcpu, ramMiB, diskGiB }: SimulatedHostOrder,
): Promise<string> {
  if (!HOST_NAME.test(name)) throw invalid('must be 1-63 lower-case letters, digits or hyphens', 'name')
  const region = await getRegion(tx, wanted)
  const real = (await listHosts(tx)).find(({ driver }) => driver !== 'simulated')
  if (real || region.network_controller !== null) {
    const what = real ? `${real.name} is a real host` : `region ${region.slug} has a network controller`
    throw apiError('invalid_state', `No simulated host can be added: ${what}`)
  }
  if (await findHost(tx, name)) throw apiError('already_exists', `There is a host ${name} already, or was: choose another name`)
  await joinSimulatedRegion(tx, region)
  const [id, uri] = [newId(), `simulated:///?vcpu=${vcpu}&ramMiB=${ramMiB}&diskGiB=${diskGiB}`]
  const size = { vcpu_total: vcpu, ram_total_mib: ramMiB, disk_total_gib: diskGiB }
  await insertHost(tx, { id, region_id: region.id, name, hostname: name, driver: 'simulated', uri, created_at: now, ...size })
  return id
}
