// Brings the catalog into a database that may have none, some or all of it.
import type { Config } from '../config.ts'
import type { Db } from '../kernel/database/db.ts'
import { seedCatalog, readCatalog } from './catalog/seed.ts'
import { seedIpPools } from './hosts/public-addresses.ts'
import { seedHosts } from './hosts/service.ts'

export async function seedDatabase(db: Db, now: Date, config: Pick<Config, 'catalogFile' | 'hypervisor'>): Promise<void> {
  const catalog = readCatalog(config.catalogFile)
  await db.tx(async (tx) => {
    await seedCatalog(tx, now, catalog)
    await seedHosts(tx, now, catalog.hosts, config.hypervisor)
    await seedIpPools(tx, now, catalog.pools, (name) => catalog.hosts.some((host) => host.name === name && host.driver === 'auto'))
  })
}
