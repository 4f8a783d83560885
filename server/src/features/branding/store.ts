// The branding as every process shows it: read again once it is a few seconds old, so that a change needs no restart. Without the database it stays as it
// was, because pages are served then too.
import { stopwatch } from '../../kernel/clock.ts'
import type { Queries } from '../../kernel/database/db.ts'
import type { Log } from '../../kernel/log.ts'
import type { Skin } from '../../http/server/skin.ts'
import { DEFAULTS, toSkin } from './skin.ts'
import type { BrandingSettings } from './schema.ts'
import * as sql from './sql.ts'

const FRESH_MS = 2_000

interface Branding {
  settings: BrandingSettings
  /** The same object until something changes. */
  skin: Skin
}

export interface BrandingStore {
  current(): Promise<Branding>
  /** After a change by this process. */
  forget(): void
}

export function openBranding(db: Queries, log: Log): BrandingStore {
  let known: Branding = { settings: DEFAULTS, skin: toSkin(DEFAULTS, []) }
  let version = ''
  let age = (): number => Infinity
  let reading: Promise<Branding> | undefined

  const read = async (): Promise<Branding> => {
    const started = stopwatch()
    const row = await sql.findBranding(db)
    const found = JSON.stringify(row)
    if (found !== version) {
      const settings = row.settings ?? DEFAULTS
      ;[known, version] = [{ settings, skin: toSkin(settings, row.images) }, found]
    }
    age = started
    return known
  }

  return {
    async current() {
      if (age() < FRESH_MS) return known
      reading ??= read().finally(() => (reading = undefined))
      return reading.catch((error: unknown) => {
        log.warn({ err: error }, 'reading branding failed; the last known is shown')
        age = stopwatch()
        return known
      })
    },
    forget() {
      age = () => Infinity
      reading = undefined // what is being read may be from before the change
    },
  }
}
