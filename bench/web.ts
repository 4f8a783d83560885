// How light is the dashboard? An account with 1,000 VMs: bytes and time of the first view, on a slow machine and line too, what moves while it
// appears, how soon it answers to a click, and how smooth it stays while 100 VMs change every second.
// Run: npm run bench:web (needs Debian's chromium, and the dashboard built: npm run build --workspace web). About two minutes, loopback only.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { issuePasswordLink, ensureUser } from '../server/src/features/users/service.ts'
import { sql } from '../server/src/kernel/database/db.ts'
import { connect, prepare, withPostgres, type Customer, type Postgres } from './vms-database.ts'
import { fill } from './vms-fill.ts'
import { startServer } from './vms-load-rounds.ts'
import { median, missed, printHead, printLimit } from './vms-table.ts'
import { clickAround, countFrames, layoutShift, slowDown, weigh, whileChanging } from './web-measures.ts'

const VMS = 1_000
const ROWS = 100
const SAMPLES = 5
/** What a customer opens, and the longest page of it. */
const FIRST_VIEW = '/vms'
const LONG_LIST = `/vms?limit=${ROWS}`
const CHANGES_PER_SECOND = 100
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update']

/** A browser that is signed in, and nothing in its cache. */
async function signIn(browser: Browser, origin: string, link: string): Promise<Awaited<ReturnType<BrowserContext['storageState']>>> {
  const context = await browser.newContext({ baseURL: origin })
  const page = await context.newPage()
  await page.goto(link)
  await page.getByLabel('Password', { exact: true }).fill('a long enough sentence')
  await page.getByRole('button', { name: 'Set password' }).click()
  await page.getByRole('heading', { name: /Hello/ }).waitFor()
  const state = await context.storageState()
  await context.close()
  return state
}

async function linkFor({ url }: Postgres, { accountId }: Customer, origin: string): Promise<string> {
  const db = connect(url)
  const account = await db.one<{ id: string; email: string; name: string }>(
    sql`select id, email, name from accounts where id = ${accountId}`,
  )
  const person = await db.tx((tx) => ensureUser(tx, new Date(), account))
  const link = await issuePasswordLink(db, new Date(), person.id, origin, '1h')
  await db.close()
  return link.url
}

/** Milliseconds from the beginning of the navigation until the rows are there and the page has nothing else to do. */
async function openList(page: Page, path = LONG_LIST, rows = ROWS): Promise<number> {
  await page.goto(path)
  await page
    .locator('tbody tr')
    .nth(rows - 1)
    .waitFor()
  return page.evaluate<number>('new Promise((resolve) => requestIdleCallback(() => resolve(performance.now())))')
}

const WATCH_ROWS = `new MutationObserver((_, observer) => {
  if (document.querySelectorAll('tbody tr').length < 5) return
  observer.disconnect()
  requestAnimationFrame(() => setTimeout(() => (globalThis.shownMs = performance.now())))
}).observe(document, { childList: true, subtree: true })`

/** Until the first rows are painted: what a person waits for. */
async function openFirstView(page: Page): Promise<number> {
  await page.addInitScript({ content: WATCH_ROWS })
  await page.goto(FIRST_VIEW)
  return page.evaluate<number>(
    'new Promise((resolve) => { const look = () => (globalThis.shownMs ? resolve(globalThis.shownMs) : setTimeout(look, 20)); look() })',
  )
}

async function measure(postgres: Postgres, customer: Customer): Promise<void> {
  const server = await startServer('vms-product.ts', postgres.url, postgres.folder)
  const origin = `http://127.0.0.1:${server.port}`
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS })
  const storageState = await signIn(browser, origin, await linkFor(postgres, customer, origin))
  const fresh = async (): Promise<Page> =>
    (await browser.newContext({ baseURL: origin, storageState, viewport: { width: 1440, height: 900 } })).newPage()
  /** Each with a browser of its own, which is closed after it: open pages go on working. */
  const samples = async (sample: (page: Page) => Promise<number>): Promise<number[]> => {
    const taken: number[] = []
    for (let count = 0; count < SAMPLES; count++) {
      const page = await fresh()
      taken.push(await sample(page))
      await page.context().close()
    }
    return taken
  }
  printHead()
  const first = await fresh()
  const { script, files } = await weigh(first, openFirstView)
  await first.context().close()
  printLimit('JavaScript of the first view, gzip', script / 1000, 200, 'kB')
  printLimit('all files of the first view, gzip', files / 1000, 300, 'kB')

  const slow = await samples(async (page) => {
    await slowDown(page, { cpu: 4, mbitPerSecond: 10 })
    return openFirstView(page)
  })
  printLimit(`first view of ${VMS} VMs, 4 × slower, 10 Mbit/s`, median(slow), 1_200, 'ms')
  const shifts = await samples(async (page) => {
    await slowDown(page, { cpu: 4, mbitPerSecond: 10 })
    return layoutShift(page, openFirstView)
  })
  printLimit('layout shift of the first view', median(shifts), 0.02, '')

  printLimit(`${ROWS} of ${VMS} VMs usable, empty cache`, median(await samples((page) => openList(page))), 2_000, 'ms')
  const page = await fresh()
  await openList(page)
  const warm: number[] = []
  for (let count = 0; count < SAMPLES; count++) warm.push(await openList(page))
  printLimit(`${ROWS} of ${VMS} VMs usable, full cache`, median(warm), 1_500, 'ms')
  await page.goto(FIRST_VIEW)
  await page.locator('tbody tr').nth(5).waitFor()
  const { p95, count } = await clickAround(page)
  printLimit(`p95 of ${count} interactions`, p95, 100, 'ms')

  await openList(page)
  const frames = await whileChanging(postgres.url, customer.accountId, CHANGES_PER_SECOND, () => countFrames(page))
  printLimit('milliseconds per frame, 100 VMs change a second', 1_000 / frames, 20, 'ms')
  await browser.close()
  await server.stop()
}

const folder = await mkdtemp(join(tmpdir(), 'berth-bench-web-'))
try {
  await withPostgres(folder, async (postgres) => {
    const stage = await prepare(postgres)
    await fill(postgres.url, stage, VMS)
    await measure(postgres, stage.many)
  })
} finally {
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = missed() > 0 ? 1 : 0
