// Takes a picture of every screen, at the width of a desk and of a telephone, light and dark, and puts them on contact sheets: npm run screens,
// or for one of them npm run screens -- -t '390 dark'. They are in web/screens, which git ignores: open index.html there.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { openBrowser } from './browser.ts'
import { becomeFundedOwner } from './page-actions.ts'
import { startProduct } from './product.ts'
import { CUSTOMER_LISTS, open, OPERATOR_LISTS, OUTSIDE, pagesOf } from './screens.ts'
import { seedOperator } from './seed-operator.ts'
import { seedShowcase, type Showcase } from './seed-showcase.ts'

const FOLDER = fileURLToPath(new URL('../screens/', import.meta.url))
const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]
const THEMES = ['light', 'dark'] as const
const VARIANTS = SIZES.flatMap((size) => THEMES.map((theme) => ({ ...size, theme, name: `${size.width} ${theme}` })))
/** Longer pages are cut off. */
const HIGHEST = 2_600
const PER_SHEET = 24

async function operatorPages(databaseUrl: string, { accountId, ticketId }: Showcase): Promise<string[]> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  const { actionId } = await db.one<{ actionId: string }>(sql`
    select id as "actionId" from workflow_runs order by created_at desc limit 1`)
  await db.close()
  const hostId = await seedOperator(databaseUrl)
  return [`/operator/hosts/${hostId}`, `/operator/accounts/${accountId}`, `/operator/actions/${actionId}`, `/operator/tickets/${ticketId}`]
}

const fileOf = (index: number, path: string): string =>
  `${String(index).padStart(2, '0')} ${
    path
      .replace(/^\//, '')
      .replace(/c[a-z0-9]{20,}/g, 'id')
      .replace(/[^\w.-]+/g, ' ') || 'home'
  }.png`

async function take(page: Page, folder: string, index: number, path: string): Promise<void> {
  const inside = !OUTSIDE.includes(path)
  if (inside) await open(page, path)
  else await page.goto(path)
  await page.waitForTimeout(600) // graphs draw, and the last numbers arrive
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  const size = page.viewportSize()!
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  // The whole page at once, because the menu at the side is as high as the window.
  await page.setViewportSize({ width: size.width, height: Math.min(height, HIGHEST) })
  await page.screenshot({ path: join(folder, fileOf(index, path)), animations: 'disabled' })
  await page.setViewportSize(size)
}

/** Pictures of many pictures, for one look at all. */
async function printSheets(page: Page, variant: string, columns: number): Promise<void> {
  const folder = join(FOLDER, variant)
  const files = readdirSync(folder).filter((name) => name.endsWith('.png') && !name.startsWith('sheet'))
  for (let begin = 0; begin < files.length; begin += PER_SHEET) {
    const cells = files.slice(begin, begin + PER_SHEET).map((name) => {
      const data = readFileSync(join(folder, name)).toString('base64')
      return `<figure><figcaption>${name.slice(0, -4)}</figcaption><img src="data:image/png;base64,${data}"></figure>`
    })
    await page.setViewportSize({ width: 1800, height: 900 })
    await page.setContent(
      `<style>body{margin:16px;font:13px sans-serif;background:#888;display:grid;grid-template-columns:repeat(${columns},1fr);gap:16px}
      figure{margin:0}img{width:100%;max-height:640px;object-fit:cover;object-position:top;display:block}</style>${cells.join('')}`,
    )
    await page.screenshot({ path: join(folder, `sheet ${begin / PER_SHEET + 1}.png`), fullPage: true })
  }
}

function writeIndex(): void {
  const variants = readdirSync(FOLDER).filter((name) => /^\d+ (light|dark)$/.test(name))
  const part = (variant: string): string =>
    `<h2>${variant}</h2><div>${readdirSync(join(FOLDER, variant))
      .filter((name) => !name.startsWith('sheet'))
      .map((name) => {
        const source = encodeURI(`${variant}/${name}`)
        return `<a href="${source}"><img loading="lazy" src="${source}"><br>${name.slice(0, -4)}</a>`
      })
      .join('')}</div>`
  writeFileSync(
    join(FOLDER, 'index.html'),
    `<!doctype html><meta charset="utf-8"><title>Screens</title>
    <style>body{font:14px sans-serif;margin:24px}div{display:grid;grid-template-columns:repeat(auto-fill,minmax(320px,1fr));gap:20px}img{width:100%;border:1px solid #ccc}</style>
    ${variants.map(part).join('')}`,
  )
}

describe('screens', async () => {
  const product = await startProduct()
  const visit = await openBrowser(product.origin)
  const showcase = await seedShowcase(visit.page, product, await becomeFundedOwner(visit.page, product))
  const inside = [
    ...CUSTOMER_LISTS,
    ...pagesOf(showcase),
    ...OPERATOR_LISTS,
    ...(await operatorPages(product.databaseUrl, showcase)),
    '/no-such-page',
  ]
  const state = await visit.context.storageState()

  test.each(VARIANTS)('$name', { timeout: 900_000 }, async ({ name, width, height, theme }) => {
    const folder = join(FOLDER, name)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const options = { viewport: { width, height }, colorScheme: theme, deviceScaleFactor: 1 } as const
    const stranger = await openBrowser(product.origin, options)
    const owner = await openBrowser(product.origin, { ...options, storageState: state })
    owner.page.setDefaultTimeout(75_000)
    let index = 0
    for (const path of OUTSIDE) await take(stranger.page, folder, index++, path)
    for (const path of inside) await take(owner.page, folder, index++, path)
    await printSheets(stranger.page, name, width < 600 ? 8 : 4)
    writeIndex()
    await stranger.context.close()
    await owner.context.close()
    expect(readdirSync(folder).filter((file) => !file.startsWith('sheet'))).toHaveLength(index)
  })
})
