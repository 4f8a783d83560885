import { json, sql, type Queries, type Tx } from '../../kernel/database/db.ts'
import type { BrandingSettings, ImageName } from './schema.ts'

export interface BrandingRow {
  settings: BrandingSettings | null
  changed_at: Date | null
  images: { name: ImageName; hash: string; type: string }[]
}

/** One row, whether there is one of its own or not. */
export const findBranding = (db: Queries) =>
  db.one<BrandingRow>(sql`
    select b.settings, b.changed_at,
      coalesce((select jsonb_agg(jsonb_build_object('name', i.name, 'hash', i.hash, 'type', i.type)) from branding_images i), '[]') as images
    from (values (true)) as only_one (one) left join branding b on b.one = only_one.one`)

export const saveBranding = (tx: Tx, now: Date, settings: BrandingSettings) =>
  tx.run(sql`
    insert into branding (settings, changed_at) values (${json(settings)}, ${now})
    on conflict (one) do update set settings = excluded.settings, changed_at = excluded.changed_at`)

export const deleteBranding = (tx: Tx) => tx.run(sql`with images as (delete from branding_images) delete from branding`)

export interface NewImage {
  name: ImageName
  hash: string
  type: string
  bytes: Buffer
}

export const saveImage = (tx: Tx, { name, hash, type, bytes }: NewImage) =>
  tx.run(sql`
    insert into branding_images (name, hash, type, bytes) values (${name}, ${hash}, ${type}, ${bytes})
    on conflict (name) do update set hash = excluded.hash, type = excluded.type, bytes = excluded.bytes`)

export const deleteImage = (tx: Tx, name: ImageName) => tx.run(sql`delete from branding_images where name = ${name}`)

export const findImage = (db: Queries, hash: string) =>
  db.maybe<{ type: string; bytes: Buffer }>(sql`select type, bytes from branding_images where hash = ${hash} limit 1`)
