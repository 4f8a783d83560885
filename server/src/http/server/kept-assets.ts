// Files of the dashboard whose names tell their content (`/assets/`), of all versions that were served lately. A page that one version has sent finds them
// at an API of another: during an upgrade of several machines, and in a tab that was open before one.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sleep, subtractDuration, type Clock } from '../../kernel/clock.ts'
import { sql, type Db } from '../../kernel/database/db.ts'

const KEPT_FOR = '30d'
export const ASSETS = '/assets/'

/** Before a process serves its own. */
export async function keepAssets({ db, clock }: { db: Db; clock: Clock }, folder: string): Promise<void> {
  const names = await readdir(join(folder, ASSETS)).catch(() => []) // not built
  const paths = names.map((name) => ASSETS + name)
  const now = clock.now()
  const known = await db.many<{ path: string }>(sql`
    update dashboard_assets set used_at = ${now} where path = any(${paths}::text[]) returning path`)
  const has = new Set(known.map(({ path }) => path))
  for (const path of paths)
    if (!has.has(path))
      await db.run(sql`
        insert into dashboard_assets (path, bytes, used_at) values (${path}, ${await readFile(join(folder, path))}, ${now})
        on conflict (path) do update set used_at = excluded.used_at`)
  await db.run(sql`delete from dashboard_assets where used_at < ${subtractDuration(now, KEPT_FOR)}`)
}

/** Between two looks at which there are: whoever asks for names at random waits, and costs no more than that. */
const PACE_MS = 100

/** Null: none of this name is kept, not even since it was asked for. */
export function keptAssets(db: Db): (path: string) => Promise<Buffer | null> {
  let known: ReadonlySet<string> = new Set()
  let next: Promise<void> | undefined
  const look = async (): Promise<void> => {
    await sleep(PACE_MS)
    next = undefined // those who come from here on may ask for what comes after this look
    known = new Set((await db.many<{ path: string }>(sql`select path from dashboard_assets`)).map(({ path }) => path))
  }
  return async (path) => {
    if (!known.has(path)) await (next ??= look())
    if (!known.has(path)) return null
    return (await db.maybe<{ bytes: Buffer }>(sql`select bytes from dashboard_assets where path = ${path}`))?.bytes ?? null
  }
}
