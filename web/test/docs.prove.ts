// The documentation in a browser: styled like the dashboard, accessible, self-contained, with forms that call the API.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { becomeOwner, button, expectShown, heading, link } from './page-actions.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

const PAGES = [
  '/docs',
  '/docs/reference/virtual-machines',
  '/docs/reference/wallet',
  '/docs/guides',
  '/docs/guide/dashboard',
  '/docs/errors',
]
const HOSTILE = '"><img src=x onerror=pwned=1><script>pwned=1</script>'

/** Style properties that both sites share. */
const look = (page: Page): Promise<object> =>
  page.evaluate(() => {
    const { backgroundColor } = getComputedStyle(document.body)
    const { fontFamily } = getComputedStyle(document.body)
    const { color } = getComputedStyle(document.querySelector('main a')!)
    return { backgroundColor, fontFamily: fontFamily.replaceAll(/['"]/g, ''), color }
  })

describe('the documentation', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page } = owner
  await becomeOwner(page, product)
  const { berth, token } = await product.client(OWNER.email)
  const { id } = await berth.networks.create({ name: HOSTILE, nodeId: (await berth.regions.list())[0]!.id, cidr: '10.20.0.0/24' })
  const operation = (id: string) => page.locator(`#${id}`)
  const answerOf = (id: string) => operation(id).getByRole('status')

  test('copies an example of a guide', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.goto('/docs/guide/tutorial')
    const example = page.locator('pre').first()
    await button(page, 'Copy').first().click()
    await expectShown(button(page, 'Copied'))
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe((await example.innerText()).trimEnd())
  })

  test('is accessible in light and dark, on small and wide screens', async () => {
    const wrong: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const path of PAGES) {
        await page.setViewportSize({ width: 1280, height: 800 })
        await page.goto(path)
        wrong.push(...(await violations(page)).map((line) => `${colorScheme} ${path}: ${line}`))
        await page.setViewportSize({ width: 360, height: 740 })
        const width = await page.evaluate(() => document.documentElement.scrollWidth)
        if (width > 360) wrong.push(`${path} is ${width} wide`)
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(wrong).toEqual([])
  })

  test('matches the theme of the dashboard', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto('/ssh-keys')
      await expectShown(heading(page, 'SSH keys'))
      await page.goto('/vms/new')
      await expectShown(link(page.getByRole('main'), /Virtual machines/))
      const dashboard = await look(page)
      await page.goto('/docs')
      expect(await look(page)).toEqual(dashboard)
    }
    await button(page, 'Light').click()
    const chosen = await look(page)
    await page.goto('/vms/new')
    await expectShown(link(page.getByRole('main'), /Virtual machines/))
    expect(await look(page)).toEqual(chosen)
  })

  test('sends a request with the session and shows the raw response', async () => {
    await page.goto('/docs')
    await link(page.getByRole('main'), /^List private networks/).click()
    await expectShown(page.getByText(`Signed in as ${OWNER.email}`))
    await button(operation('listNetworks'), 'Send GET').click()
    await expectShown(answerOf('listNetworks').getByText(/^HTTP 200 OK · \d+ ms$/))
    expect(await answerOf('listNetworks').getByLabel('Headers').innerText()).toContain('x-ratelimit-remaining:')
    expect(await answerOf('listNetworks').getByLabel('Body').innerText()).toContain(JSON.stringify(HOSTILE))
    expect(await page.evaluate(() => 'pwned' in globalThis)).toBe(false)
    expect(await page.locator('img').count()).toBe(0)
    expect(await violations(page)).toEqual([])
  })

  test('sends a request with a pasted API key and shows errors', async () => {
    await page.goto('/docs/reference/ssh-keys')
    await page.getByLabel('API key', { exact: true }).fill(`${token}x`)
    await button(operation('listSshKeys'), 'Send GET').click()
    await expectShown(answerOf('listSshKeys').getByText(/^HTTP 401/))
    await page.getByLabel('API key', { exact: true }).fill(token)
    const form = operation('createSshKey').locator('form')
    await form.getByLabel('Body (JSON)').fill('{"name":"laptop","publicKey":"nonsense"}')
    await button(form, 'Send POST').click()
    await expectShown(answerOf('createSshKey').getByText(/^HTTP 4\d\d/))
    await page.goto('/docs/reference/networks')
    await page.getByLabel('API key', { exact: true }).fill(token)
    const rename = operation('renameNetwork').locator('form')
    await rename.getByLabel('id', { exact: true }).fill(id)
    await rename.getByLabel('Body (JSON)').fill('{"name":"by the docs"}')
    await rename.getByLabel('Body (JSON)').press('Tab')
    await page.keyboard.press('Enter')
    await expectShown(answerOf('renameNetwork').getByText(/^HTTP 200/))
    expect((await berth.networks.get(id)).name).toBe('by the docs')
    expectNoProblems(owner)
  })

  test('works without a session', async () => {
    const stranger = await openBrowser(product.origin)
    await stranger.page.goto('/docs/reference/catalog')
    await expectShown(stranger.page.getByText('You are not signed in to the dashboard.'))
    expect(await stranger.page.locator('#session').isDisabled()).toBe(true)
    expectNoProblems(stranger)
  })
})
