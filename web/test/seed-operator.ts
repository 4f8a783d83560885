// What only operators see, as after some weeks: a host that is being added, an import that failed, certificates that end soon.
import { openDb, sql } from '../../server/src/kernel/database/db.ts'

/** Answers the id of a host. */
export async function seedOperator(databaseUrl: string, named: (what: string) => string = (what) => what): Promise<string> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  const { id: hostId } = await db.one<{ id: string }>(sql`select id from hosts order by created_at, id limit 1`)
  await db.run(sql`
    insert into host_enrollments (id, region_id, name, address, token_hash, range, gateway, created_at, expires_at, fetched_at)
    select 'cenrolled01', id, 'rack7', 'rack7.invalid', 'hash', '10.99.0.0/16', '10.99.0.1', now(), now() + interval '1 hour', now() from regions limit 1
    on conflict do nothing`)
  await db.run(sql`
    insert into host_certificates (host_id, kind, subject, issuer, expires_at, seen_at) select ${hostId}, kind, subject, issuer, now() + days, now()
    from (values ('LIBVIRT', 'CN=10.0.0.5', 'CN=berth-authority-c1', interval '20 days'),
      ('CHASSIS', 'CN=10.0.0.5', 'CN=berth-chassis-c1', interval '25 days')) c(kind, subject, issuer, days)
    on conflict do nothing`)
  await db.run(sql`
    insert into workflow_runs
    select copy.* from (select * from workflow_runs where status = 'COMPLETED' limit 1) r, jsonb_populate_record(r, jsonb_build_object(
      'id', 'cimported01', 'name', 'template.import', 'label', 'TEMPLATE_IMPORT', 'status', 'FAILED', 'subject_id', 'template-alpine', 'owner_id', null,
      'error', ${named('The file could not be fetched: it answered 404')}::text)) copy
    on conflict do nothing`)
  await db.run(sql`
    insert into template_imports (id, slug, url, created_at) values ('cimported01', 'alpine-3-22', ${`https://images.example.com/${named('alpine').replaceAll(' ', '-')}.qcow2`}, now())
    on conflict do nothing`)
  await db.close()
  return hostId
}
