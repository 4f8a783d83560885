// How light is the dashboard? Bytes of its first load, and how soon the list of an account with 1,000 VMs can be used: with nothing in the
// browser's cache, and with everything. Run: npm run bench:web (needs Debian's chromium, and the dashboard built: npm run build --workspace web). About a minute, loopback only.
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

const VMS = 1_000
const ROWS = 100
const SAMPLES = 5
const LIST = `/vms?limit=${ROWS}`
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

/** Milliseconds from the beginning of the navigation until all rows are there and the page has nothing else to do. */
async function openList(page: Page): Promise<number> {
  await page.goto(LIST)
  await page
    .locator('tbody tr')
    .nth(ROWS - 1)
    .waitFor()
  return page.evaluate<number>('new Promise((resolve) => requestIdleCallback(() => resolve(performance.now())))')
}

interface Bytes {
  script: number
  /** Everything but what the API answers. */
  files: number
}

/** What comes over the wire, as it is packed there. */
async function weigh(page: Page): Promise<Bytes> {
  const bytes = { script: 0, files: 0 }
  const types = new Map<string, string>()
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  session.on('Network.responseReceived', ({ requestId, type }) => void types.set(requestId, type))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId)
    if (type !== 'Fetch') bytes.files += encodedDataLength
    if (type === 'Script') bytes.script += encodedDataLength
  })
  await openList(page)
  return bytes
}

async function measure(postgres: Postgres, customer: Customer): Promise<void> {
  const server = await startServer('vms-product.ts', postgres.url, postgres.folder)
  const origin = `http://127.0.0.1:${server.port}`
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS })
  const storageState = await signIn(browser, origin, await linkFor(postgres, customer, origin))
  const fresh = async (): Promise<Page> => (await browser.newContext({ baseURL: origin, storageState })).newPage()
  const { script, files } = await weigh(await fresh())
  printHead()
  printLimit('JavaScript of the first load, gzip', script / 1000, 250, 'kB')
  printLimit('all files of the first load, gzip', files / 1000, 350, 'kB')
  const cold: number[] = []
  for (let sample = 0; sample < SAMPLES; sample++) cold.push(await openList(await fresh()))
  const page = await fresh()
  const warm: number[] = []
  for (let sample = 0; sample <= SAMPLES; sample++) warm.push(await openList(page))
  printLimit(`${ROWS} of ${VMS} VMs usable, empty cache`, median(cold), 2_000, 'ms')
  printLimit(`${ROWS} of ${VMS} VMs usable, full cache`, median(warm.slice(1)), 1_500, 'ms')
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
