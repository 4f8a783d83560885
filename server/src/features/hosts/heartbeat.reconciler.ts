// Asks every host how it is. A host that does not answer gets no new VMs; one that comes back is given time before its VMs are compared.
import { sql, type Db } from '../../kernel/db.ts'
import { reconciler } from '../deps.ts'
import { listHosts, type HostRow } from './service.ts'

/** Hosts whose facts this process has written down. */
const learned = new Set<string>()

export const heartbeat = reconciler('hosts.heartbeat', '10s', async ({ db, clock, hypervisors, log }) => {
  const ask = async (host: HostRow): Promise<void> => {
    try {
      const { problems } = await (await hypervisors.get(host.id)).health(AbortSignal.timeout(8_000))
      if (problems.length > 0) log.warn({ host: host.name, problems }, 'host has problems')
      await markReachable(db, host.id, clock.now())
      void learnFacts(host)
    } catch (error) {
      log.warn({ err: error, host: host.name }, 'host does not answer')
      await markUnreachable(db, host.id, clock.now())
    }
  }
  /** Once in the life of a process: how guests run is found out by starting one, which takes longer than a heartbeat may. */
  const learnFacts = async (host: HostRow): Promise<void> => {
    if (host.driver === 'simulated' || learned.has(host.id)) return
    learned.add(host.id)
    try {
      const { acceleration, arch } = await (await hypervisors.get(host.id)).facts(AbortSignal.timeout(90_000))
      await db.run(sql`update hosts set acceleration = ${acceleration}, arch = ${arch} where id = ${host.id}`)
    } catch (error) {
      log.warn({ err: error, host: host.name }, 'host does not tell what it is')
      learned.delete(host.id)
    }
  }
  await Promise.all((await listHosts(db)).map(ask))
})

const markReachable = (db: Db, id: string, now: Date) =>
  db.run(sql`
    update hosts set last_seen_at = ${now}, reachable_since = case when unreachable_since is null then reachable_since else ${now} end,
      unreachable_since = null
    where id = ${id}`)

const markUnreachable = (db: Db, id: string, now: Date) =>
  db.run(sql`update hosts set unreachable_since = coalesce(unreachable_since, ${now}) where id = ${id}`)
