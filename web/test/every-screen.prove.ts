// Every screen of the router, with long names and 1,000 VMs, on a phone and on a desk: no console error, no unhandled rejection, no error page
// even for a moment, no horizontal scrolling, nothing that moves for those who want no motion. Then with a server that answers 502, without a connection, and after the session has ended.
import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { openDb, sql } from '../../server/src/kernel/database/db.ts'
import { becomeFundedOwner, button, expectShown, fill, go, heading } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { seedAccount, type SeededAccount } from './seed-account.ts'
import { OWNER, startProduct } from './product.ts'
import { seedOperator } from './seed-operator.ts'
import { CUSTOMER_LISTS, MENU, open, OPERATOR_LISTS, OUTSIDE, pagesOf, PATIENCE_MS, routerPaths } from './screens.ts'

const VMS = 1_000
const SIZES = [
  { width: 360, height: 740 },
  { width: 720, height: 450 }, // a desk at a zoom of 200 %
  { width: 1440, height: 900 },
]
const API = /\/api\/dashboard\/(?!session$|setup$)/
/** They need nothing but the session. */
const WITHOUT_QUERIES = ['/no-such-page', '/settings?tab=profile', '/settings?tab=security']
const LONG = (what: string): string => `${what} ${'W'.repeat(100)}`.slice(0, 100)

/** Copies a VM. Nobody manages the copies, so that no reconciler looks for them on a host. */
async function copyVm(databaseUrl: string, vmId: string): Promise<void> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  await db.run(sql`
    insert into vms
    select copy.* from vms v, generate_series(1, ${VMS}::int) n,
      jsonb_populate_record(v, jsonb_build_object('id', 'c0000000' || lpad(n::text, 16, '0'), 'uuid', gen_random_uuid(), 'status', 'UNMANAGED',
        'name', rpad('vm-' || n, 100, 'W'), 'hostname', 'vm-' || n, 'ip_address', '10.200.0.0'::inet + n, 'mac', null)) copy
    where v.id = ${vmId}`)
  // Lists take their total from the quota.
  await db.run(sql`
    update account_quotas q set used = used + ${VMS}::int from vms v where v.id = ${vmId} and q.account_id = v.account_id and q.name = 'vms'`)
  await db.close()
}

/** As if the month were over. */
async function invoicePage(databaseUrl: string): Promise<string> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  await db.run(sql`
    insert into invoices (id, account_id, number, month, first_entry, last_entry, currency, opening_cents, charged_cents, paid_cents,
      closing_cents, seller, customer, issued_at)
    select 'cinvoice01', account_id, 1, '2026-10-01', 1, transaction_count, 'USD', 0, 10000 - balance_cents, 10000, balance_cents,
      '{"name": "Berth", "address": ["Harbour 1"], "tax": ""}', '{"name": "Owner", "email": "owner@example.com"}', now()
    from wallets where transaction_count > 0`)
  await db.close()
  return '/wallet/invoices/cinvoice01'
}

/** Ids of what only operators see. */
async function operatorPages(databaseUrl: string, { ticketId }: SeededAccount): Promise<string[]> {
  const db = openDb({ url: databaseUrl, maxConnections: 1, onError: () => {} })
  const { accountId, actionId, hostId } = await db.one<{ accountId: string; actionId: string; hostId: string }>(sql`
    select account_id as "accountId", host_id as "hostId", (select id from workflow_runs where subject_id = v.id limit 1) as "actionId" from vms v limit 1`)
  await db.close()
  return [
    `/operator/accounts/${accountId}`,
    ...['money', 'tickets', 'audit'].map((tab) => `/operator/accounts/${accountId}?tab=${tab}`),
    `/operator/hosts/${hostId}`,
    `/operator/actions/${actionId}`,
    `/operator/tickets/${ticketId}`,
  ]
}

/** Records the error page of the router, however briefly it is shown. */
const watchErrorPages = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    new MutationObserver(() => {
      if (document.querySelector('h1')?.textContent === 'Failed to load') console.error(`error page on ${location.pathname}`)
    }).observe(document, { childList: true, subtree: true })
  })

describe('every screen', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin, { viewport: SIZES[2] })
  const { page } = owner
  page.setDefaultTimeout(PATIENCE_MS)
  await watchErrorPages(page)
  const berth = await becomeFundedOwner(page, product)
  const refused: string[] = []
  page.on('response', (answer) => {
    // The client repeats what is beyond the limit of requests.
    if (answer.status() >= 400 && answer.status() !== 429) refused.push(`${answer.status()} ${answer.url()}`)
  })
  const seeded = await seedAccount(berth, LONG)
  await product.run('account', 'limit', '--account', OWNER.email, '--name', 'vms', '--value', String(2 * VMS))
  await copyVm(product.databaseUrl, seeded.vmId)
  await seedOperator(product.databaseUrl, LONG)
  const inside = [
    ...CUSTOMER_LISTS,
    ...pagesOf(seeded),
    await invoicePage(product.databaseUrl),
    ...OPERATOR_LISTS,
    ...(await operatorPages(product.databaseUrl, seeded)),
    '/no-such-page',
  ]

  /** What is wider than the window, on the page or in a dialog. */
  const tooWide = (on: Page): Promise<string[]> =>
    on.evaluate(() =>
      [document.documentElement, ...document.querySelectorAll('[role=dialog]')].flatMap((element) =>
        element.scrollWidth > element.clientWidth ? [`${element.tagName} is ${element.scrollWidth} wide in ${element.clientWidth}`] : [],
      ),
    )

  /** Bars that stay while the page scrolls, where they leave it less than half of the window. */
  const tooHigh = (on: Page): Promise<string[]> =>
    on.evaluate(() => {
      const bars = [...document.querySelectorAll('body *')].filter((element) => {
        const { width, height } = element.getBoundingClientRect()
        return /fixed|sticky/.test(getComputedStyle(element).position) && width > innerWidth / 2 && height > 0
      })
      const height = bars.reduce((sum, bar) => sum + bar.getBoundingClientRect().height, 0)
      return height > innerHeight / 2 ? [`bars are ${height} of ${innerHeight} high`] : []
    })

  const moving = (on: Page): Promise<string[]> =>
    on.evaluate(() =>
      document.getAnimations().flatMap(({ playState, effect }) => {
        const { duration } = effect!.getComputedTiming()
        return playState === 'running' && Number(duration) > 1 ? [`something moves for ${String(duration)} ms`] : []
      }),
    )

  const visit = async (paths: string[], on = page): Promise<string[]> => {
    const wrong: string[] = []
    for (const path of paths) {
      await open(on, path)
      wrong.push(...[...(await tooWide(on)), ...(await tooHigh(on)), ...(await moving(on))].map((line) => `${path}: ${line}`))
    }
    return wrong
  }

  test('of the router is in the list', () => {
    const visited = [...OUTSIDE, ...inside].map((path) => path.split('?')[0]!)
    const matches = (pattern: string, path: string): boolean =>
      new RegExp(`^${pattern.replace(/\$\w+/g, '[^/]+').replace('$', '.+')}$`).test(path)
    expect(routerPaths().filter((pattern) => !visited.some((path) => matches(pattern, path)))).toEqual([])
  })

  test.each(SIZES)('fits $width pixels and reports no error', { timeout: 600_000 }, async (size) => {
    const stranger = await openBrowser(product.origin, { viewport: size })
    await watchErrorPages(stranger.page)
    expect(await visit(OUTSIDE, stranger.page)).toEqual([])
    expectNoProblems(stranger)
    await stranger.context.close()
    await page.setViewportSize(size)
    expect(await visit(inside)).toEqual([])
    expect(refused).toEqual([])
    expectNoProblems(owner)
  })

  test('is reached by the menu without an error page, and takes the focus', { timeout: 600_000 }, async () => {
    for (const name of MENU) {
      await go(page, name)
      await expectShown(page.getByRole('heading'))
      await expect.poll(() => page.evaluate(() => document.activeElement?.id), { message: name }).toBe('content')
    }
    expectNoProblems(owner)
  })

  test('pages through 1,000 VMs', { timeout: 600_000 }, async () => {
    await open(page, '/vms?limit=100')
    await expectShown(page.getByText(`1–100 of ${VMS + 2}`))
    expect(await tooWide(page)).toEqual([])
    await button(page, 'Next').click()
    await expectShown(page.getByText(`101–200 of ${VMS + 2}`))
    expectNoProblems(owner)
  })

  test('says that the server answers 502, and recovers', { timeout: 900_000 }, async () => {
    await page.route(API, (route) => route.fulfill({ status: 502, body: 'Bad Gateway' }))
    const silent: string[] = []
    for (const path of inside.filter((each) => !WITHOUT_QUERIES.includes(each))) {
      await page.goto(path)
      const says = page.getByRole('alert').or(page.locator('[data-state=failing]:visible'))
      await expectShown(says, 30_000).catch(() => silent.push(path))
    }
    await page.unroute(API)
    expect(silent).toEqual([])
    await open(page, '/vms')
    await expectShown(page.locator('[data-state=live]:visible'))
    const unexpected = owner.problems.splice(0).filter((problem) => !/error page on/.test(problem)) // a resource that cannot be loaded is a page
    expect(unexpected).toEqual([])
  })

  test('says that it is offline, keeps what was loaded, and recovers', { timeout: 600_000 }, async () => {
    for (const path of ['/', '/vms', `/vms/${seeded.vmId}`, '/wallet', '/operator/hosts']) {
      await open(page, path)
      const title = await page.getByRole('heading', { level: 1 }).innerText()
      await page.context().setOffline(true)
      await expectShown(page.locator('[data-state=offline]:visible'), 30_000)
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(title)
      expect(await tooWide(page)).toEqual([])
      await page.context().setOffline(false)
      await expectShown(page.locator('[data-state=live]:visible'))
    }
    expectNoProblems(owner)
  })

  test('asks to sign in when the session has ended, and returns', { timeout: 600_000 }, async () => {
    /** An address may ask so often in a minute. */
    const allowed = async (): Promise<void> => {
      const { headers } = await fetch(`${product.origin}/api/dashboard/session`)
      if (Number(headers.get('x-ratelimit-remaining')) < 20) await setTimeout(1000 * Number(headers.get('x-ratelimit-reset')))
    }
    const ended: string[] = []
    for (const path of inside) {
      await allowed()
      await page.context().clearCookies()
      await page.goto(path)
      await expectShown(page.getByText('Your session has ended.'), 30_000).catch(() => ended.push(path))
    }
    expect(ended).toEqual([])
    await allowed()
    await page.goto(`/firewalls/${seeded.firewallId}`)
    await fill(page, { Email: OWNER.email, Password: OWNER.password })
    await button(page, 'Sign in').click()
    await expectShown(heading(page, LONG('web')))
    expectNoProblems(owner)
  })
})
