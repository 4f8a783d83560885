// What hosts show of themselves, as it was last read: certificates and chassis.
import type { Chassis } from '../../hypervisor/network-controller.ts'
import type { HostCertificate } from '../../hypervisor/driver.ts'
import { json, sql, type Db, type Queries } from '../../kernel/database/db.ts'
import { allColumns } from '../../schema/columns.ts'
import type { Row } from '../../schema/rows.gen.ts'

export type CertificateRow = Row<'host_certificates'>
export type ChassisRow = Omit<Row<'host_chassis'>, 'encaps'> & { encaps: Chassis['encaps'] }

/** In place of those that were known. */
export const writeCertificates = (db: Db, now: Date, hostId: string, found: readonly HostCertificate[]): Promise<void> =>
  db.tx(async (tx) => {
    await tx.run(sql`delete from host_certificates where host_id = ${hostId} and kind <> all(${found.map(({ kind }) => kind)}::text[])`)
    for (const { kind, subject, issuer, expiresAt } of found)
      await tx.run(sql`
        insert into host_certificates (host_id, kind, subject, issuer, expires_at, seen_at)
        values (${hostId}, ${kind}, ${subject}, ${issuer}, ${expiresAt}, ${now})
        on conflict (host_id, kind) do update set subject = excluded.subject, issuer = excluded.issuer, expires_at = excluded.expires_at,
          seen_at = excluded.seen_at`)
  })

/** Of the hosts of a region, in place of those that were known. */
export const writeChassis = (db: Db, now: Date, regionId: string, found: readonly Chassis[]): Promise<void> =>
  db.tx(async (tx) => {
    for (const { host, name, encaps, ports, confirmedAt } of found)
      await tx.run(sql`
        insert into host_chassis (host_id, name, encaps, ports, confirmed_at, seen_at)
        select id, ${name}, ${json(encaps)}, ${ports}, ${confirmedAt}, ${now} from hosts
        where region_id = ${regionId} and hostname = ${host} and removed_at is null limit 1
        on conflict (host_id, name) do update set encaps = excluded.encaps, ports = excluded.ports, confirmed_at = excluded.confirmed_at,
          seen_at = excluded.seen_at`)
    await tx.run(sql`delete from host_chassis where host_id in (select id from hosts where region_id = ${regionId}) and seen_at < ${now}`)
  })

export const certificatesOf = (db: Queries, hostId: string) =>
  db.many<CertificateRow>(
    sql`select ${allColumns('host_certificates')} from host_certificates where host_id = ${hostId} order by kind desc`,
  )

export const chassisOf = (db: Queries, hostId: string) =>
  db.many<ChassisRow>(sql`select ${allColumns('host_chassis')} from host_chassis where host_id = ${hostId} order by name`)
