// What a browser is asked for the bench of the dashboard.
import { setTimeout } from 'node:timers/promises'
import type { CDPSession, Page } from 'playwright-core'
import { insertEvent } from '../server/src/features/events/sql.ts'
import { sql } from '../server/src/kernel/database/db.ts'
import { newId } from '../server/src/kernel/ids.ts'
import { connect } from './vms-database.ts'
import { percentile } from './vms-table.ts'

interface Bytes {
  script: number
  /** Everything but what the API answers. */
  files: number
}

/** What comes over the wire, as it is packed there, until the view is shown. What is fetched ahead afterwards does not keep anybody waiting. */
export async function weigh(page: Page, open: (page: Page) => Promise<unknown>): Promise<Bytes> {
  const bytes = { script: 0, files: 0 }
  const types = new Map<string, string>()
  const session = await network(page)
  let isCounting = true
  session.on('Network.responseReceived', ({ requestId, type }) => void types.set(requestId, type))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const type = types.get(requestId)
    if (!isCounting || type === undefined) return
    if (type !== 'Fetch' && type !== 'EventSource') bytes.files += encodedDataLength
    if (type === 'Script') bytes.script += encodedDataLength
  })
  await open(page)
  isCounting = false
  return bytes
}

async function network(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  return session
}

const LATENCY_MS = 20

export async function slowDown(page: Page, { cpu, mbitPerSecond }: { cpu: number; mbitPerSecond: number }): Promise<void> {
  const session = await network(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpu })
  const bytesPerSecond = (mbitPerSecond * 1_000_000) / 8
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: bytesPerSecond,
    uploadThroughput: bytesPerSecond,
  })
}

const WATCH_SHIFTS = `globalThis.shift = 0
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value
}).observe({ type: 'layout-shift', buffered: true })`

/** The sum of the layout shifts until two seconds after the view is shown. */
export async function layoutShift(page: Page, open: (page: Page) => Promise<unknown>): Promise<number> {
  await page.addInitScript({ content: WATCH_SHIFTS })
  await open(page)
  await setTimeout(2_000)
  return page.evaluate<number>('globalThis.shift')
}

const WATCH_EVENTS = `globalThis.longest = new Map()
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries())
    if (interactionId > 0) longest.set(interactionId, Math.max(longest.get(interactionId) ?? 0, duration))
}).observe({ type: 'event', durationThreshold: 16, buffered: true })`

/** Presses what is pressed most, and returns how long the browser took from each until the next frame was shown. */
export async function clickAround(page: Page): Promise<{ p95: number; count: number }> {
  await page.evaluate(WATCH_EVENTS)
  const quick = { timeout: 5_000 }
  for (let round = 0; round < 3; round++) {
    for (const choice of await page.locator('tbody input[type=checkbox]').all()) await choice.click({ ...quick, force: true })
    for (const choice of await page.locator('tbody input[type=checkbox]').all()) await choice.click({ ...quick, force: true })
    const filter = page.getByLabel('Filter by status')
    if ((await filter.count()) > 0) for (const index of [1, 0]) await filter.selectOption({ index })
    await page.getByRole('button', { name: 'Account menu' }).click(quick)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Search' }).click(quick)
    await page.getByRole('combobox', { name: 'Search for' }).pressSequentially('vm-10', { delay: 40 })
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Networks', exact: true }).first().click(quick)
    await page.getByRole('link', { name: 'Virtual machines', exact: true }).first().click(quick)
    await page.locator('tbody tr').nth(5).waitFor()
  }
  await setTimeout(500)
  const durations = await page.evaluate<number[]>('[...globalThis.longest.values()]')
  return { p95: percentile(durations, 0.95), count: durations.length }
}

const COUNTED_MS = 5_000

/** Frames a second. */
export const countFrames = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const begin = performance.now()
    let frames = 0
    const next = () => {
      const passed = performance.now() - begin
      if (passed >= ${COUNTED_MS}) return resolve((frames * 1000) / passed)
      frames++
      requestAnimationFrame(next)
    }
    requestAnimationFrame(next)
  })`)

const STEP_MS = 100

/** VMs of the account start and stop, so many a second, and their events are recorded as the product does. */
export async function whileChanging<T>(url: string, accountId: string, perSecond: number, work: () => Promise<T>): Promise<T> {
  const db = connect(url)
  const ids = await db.many<{ id: string; name: string }>(
    sql`select id, name from vms where account_id = ${accountId} order by created_at desc, id desc limit 1000`,
  )
  const done = new AbortController()
  let turn = 0
  const change = async (): Promise<void> => {
    const { id, name } = ids[turn++ % ids.length]!
    const isRunning = turn % 2 === 0
    await db.tx(async (tx) => {
      await tx.run(sql`update vms set status = ${isRunning ? 'RUNNING' : 'STOPPED'}, updated_at = now() where id = ${id}`)
      const data = { vm: { id, name }, actionId: id, sequence: turn }
      await insertEvent(tx, {
        account_id: accountId,
        id: newId(),
        type: isRunning ? 'vm.started' : 'vm.stopped',
        subject_id: id,
        data,
        created_at: new Date(),
      })
    })
  }
  const changing = (async () => {
    while (!done.signal.aborted) {
      const next = setTimeout(STEP_MS)
      for (let count = 0; count < (perSecond * STEP_MS) / 1_000; count++) await change()
      await next
    }
  })()
  await setTimeout(1_000)
  return work().finally(async () => {
    done.abort()
    await changing
    await db.close()
  })
}
