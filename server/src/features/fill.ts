// Brings the catalog into a database that may have none, some or all of it.
import type { Config } from '../config.ts'
import type { Db } from '../kernel/db.ts'
import { fillCatalog, readCatalog } from './catalog/fill.ts'
import { fillPools } from './hosts/addresses.ts'
import { fillHosts } from './hosts/service.ts'

export async function fillIn(db: Db, now: Date, config: Pick<Config, 'catalogFile' | 'hypervisor'>): Promise<void> {
  const catalog = readCatalog(config.catalogFile)
  await db.tx(async (tx) => {
    await fillCatalog(tx, now, catalog)
    await fillHosts(tx, now, catalog.hosts, config.hypervisor)
    await fillPools(tx, now, catalog.pools, (name) => catalog.hosts.some((host) => host.name === name && host.driver === 'auto'))
  })
}
