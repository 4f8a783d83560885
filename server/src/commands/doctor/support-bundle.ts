// What a stranger needs to help, in one file that an operator can read before sending it: state, counts, settings and messages. Text that an
// operator or a customer has typed is left out, because it may be a secret or name a person; what is left of it in messages is masked.
import type { Command } from 'commander'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { cpus, freemem, loadavg, release, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { describeSettings } from '../../config.ts'
import { sql, type Db } from '../../kernel/database/db.ts'
import { VERSION } from '../../kernel/version.ts'
import { adminCommand, type Admin } from '../admin-command.ts'
import { UsageError } from '../errors.ts'
import { toJson, type Result } from '../output.ts'

export function supportBundleCommands(program: Command): void {
  adminCommand(
    program
      .command('support-bundle')
      .description('write what helps others to find a fault into a file, without secrets and without texts of customers')
      .argument('<file>', 'to write, compressed JSON'),
    'support-bundle berth-support.json.gz',
    writeBundle,
  )
}

async function writeBundle(admin: Admin, _options: object, file: string): Promise<Result> {
  const parts = await collect(admin)
  await writeFile(file, gzipSync(masked(toJson(parts))), { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new UsageError(`${file} already exists: choose another name`)
    throw error
  })
  const names = Object.keys(parts)
  return {
    data: { file, parts: names },
    text: `${file} has: ${names.join(', ')}.\nRead it before you send it: zcat ${file} | less`,
  }
}

const DAYS = 7
const MOST_FAILURES = 500
const LOG_LINES = 2_000

async function collect({ config, db, now }: Admin): Promise<Record<string, unknown>> {
  const { examine } = await import('./index.ts')
  const since = new Date(now.getTime() - DAYS * 86_400_000)
  return {
    berth: { version: VERSION, writtenAt: now },
    machine: {
      node: process.version,
      arch: process.arch,
      kernel: release(),
      cpus: cpus().map(({ model }) => model),
      memory: { totalBytes: totalmem(), freeBytes: freemem() },
      load: loadavg(),
    },
    settings: describeSettings(),
    doctor: await examine(config),
    database: await describeDatabase(db),
    hosts: await db.many(sql`
      select id, region_id, driver, arch, acceleration, traits, vcpu_total, vcpu_used, vcpu_overcommit, ram_total_mib, ram_used_mib, ram_overcommit,
        disk_total_gib, disk_used_gib, disk_free_gib, disk_reserve_percent, uplink_mbps, maintenance, created_at, last_seen_at,
        reachable_since, unreachable_since, lost_at, fenced_at, removed_at
      from hosts order by id`),
    vms: await db.many(sql`select status, count(*)::int from vms group by 1 order by 1`),
    actions: await db.many(sql`
      select name, status, count(*)::int, max(tries)::int as tries, max(completed_at - started_at)::text as longest
      from workflow_runs left join lateral (select max(tries) as tries from workflow_steps where run_id = id) as steps on true
      where created_at > ${since} group by 1, 2 order by 1, 2`),
    failures: await db.many(sql`
      select runs.id, runs.name, runs.status, runs.compensating, runs.cleanup_failed, runs.attempt, runs.error_code, runs.created_at, runs.completed_at,
        steps.name as step, steps.status as step_status, steps.tries, steps.error
      from workflow_runs as runs join workflow_steps as steps on steps.run_id = runs.id
      where steps.error is not null and runs.created_at > ${since} order by runs.created_at desc limit ${MOST_FAILURES}`),
    metrics: await readMetrics(`http://${config.metricsHost}:${config.metricsPort}/metrics`),
    log: await readJournal(),
  }
}

async function describeDatabase(db: Db): Promise<unknown> {
  return {
    ...(await db.one<object>(sql`
      select version(), pg_database_size(current_database())::float8 as bytes, pg_is_in_recovery() as "isStandby"`)),
    settings: await db.many(
      sql`select name, setting, unit from pg_settings where source not in ('default', 'client') and vartype <> 'string' order by 1`,
    ),
    migrations: await db.many(sql`select name, checksum from schema_migrations order by name`),
    connections: await db.many(sql`
      select application_name as application, state, wait_event_type as waits, count(*)::int,
        max(extract(epoch from clock_timestamp() - xact_start))::float8 as "longestSeconds"
      from pg_stat_activity where datname = current_database() group by 1, 2, 3 order by 1, 2, 3`),
    tables: await db.many(sql`
      select schemaname as schema, relname as name, n_live_tup::float8 as rows, n_dead_tup::float8 as dead, pg_total_relation_size(relid)::float8 as bytes, last_autovacuum as "vacuumedAt"
      from pg_stat_user_tables order by schemaname, relname`),
  }
}

const METRICS_MS = 3_000

async function readMetrics(url: string): Promise<string[]> {
  try {
    return (await (await fetch(url, { signal: AbortSignal.timeout(METRICS_MS) })).text())
      .split('\n')
      .filter((line) => !line.startsWith('#'))
  } catch (error) {
    return [`${url}: ${(error as Error).message}`]
  }
}

async function readJournal(): Promise<string[]> {
  const args = ['--unit', 'berth-*', '--lines', String(LOG_LINES), '--output', 'short-iso', '--no-pager', '--quiet']
  try {
    return (await promisify(execFile)('journalctl', args, { maxBuffer: 64 * 1024 ** 2 })).stdout.split('\n')
  } catch (error) {
    return [`journalctl: ${(error as Error).message}`]
  }
}

/** In messages: users in URLs, addresses of people, tokens, and what follows a name of a secret. */
export const masked = (json: string): string =>
  json
    .replace(/:\/\/[^\s/"'@]+@/g, '://…@')
    .replace(/[\w.%+-]+@[\w-]+(\.[\w-]+)+/g, '…@…')
    .replace(/\b[a-z]{2,10}_(live_|test_)?[A-Za-z0-9+/=]{16,}/g, '…')
    .replace(SECRET, '$1…')
const SECRET =
  /((?:password|secret|token|authorization|cookie|api[-_]?key)[\w-]*(?:\\?["'])?\s*[:=]\s*(?:\\?["'])?(?:(?:Bearer|Basic|ApiKey|Token) )?)[^\s"'\\,;&]+/gi
