// An operator gives the product a name, a logo and a colour; a customer sees them at sign-in and inside, in both themes.
import { describe, expect, test } from 'vitest'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, link } from './page-actions.ts'
import { startProduct } from './product.ts'
import { open } from './screens.ts'

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#5b21b6"/></svg>`
const NAME = `Example & <Cloud>`
const [PURPLE, VIOLET] = ['rgb(91, 33, 182)', 'rgb(124, 58, 237)']
/** By then every process has read the branding anew. */
const SHOWN_AFTER_MS = 2_500

describe('the branding of an operator', async () => {
  const product = await startProduct({ BERTH_SIGN_UP: 'open' })
  const operator = await openBrowser(product.origin)
  const { page } = operator
  await becomeOwner(page, product)

  test('is set on a screen that shows it before it is saved', async () => {
    await go(page, 'Branding')
    await expectShown(heading(page, 'Branding'))
    await page
      .locator('input[type=file][name=logo]')
      .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(SVG) })
    await expectShown(page.getByText('File saved'))
    await fill(page, { 'Name of the product': NAME, Accent: '#ffcc00' })
    await expectShown(page.getByText(/^White text on #ffcc00 has a contrast of 1\.5:1/))
    await fill(page, { Accent: '#5b21b6', 'Accent in the dark theme': '#7c3aed' })
    await page.getByText(/^White text on/).waitFor({ state: 'detached' })
    const samples = page.locator('figure').getByText('Create VM')
    const coloursOf = () => samples.evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor))
    await expect.poll(coloursOf).toEqual([PURPLE, VIOLET])
    await fill(page, { Imprint: 'https://example.com/imprint' })
    expect(await violations(page)).toEqual([])
  })

  test('has mails with a text of its own', async () => {
    await page.getByLabel('Kind of mail').selectOption('ticket.reply')
    await fill(page, { Subject: 'About {ticket}', Text: 'Hello,\n\nwe answered {unknown}.', 'Signature (English)': 'Yours, {product}' })
    await expectShown(page.getByText(/^\{unknown\} is unknown in mails of this kind/))
    await fill(page, { Text: 'Hello,\n\nwe answered {ticket}.' })
    const letter = page.locator('figure', { hasText: 'Preview with examples' })
    await expectShown(letter.getByText('we answered My VM is slow.'))
    await expectShown(letter.getByText(`Yours, ${NAME}`))
    await button(page, 'Save changes').click()
    await expectShown(page.getByText(/^Branding saved/))
    expect(await violations(page)).toEqual([])
    expectNoProblems(operator)
  })

  test.each([
    ['light', PURPLE],
    ['dark', VIOLET],
  ] as const)('is what a customer sees in the %s theme, from the first page on', async (colorScheme, colour) => {
    await page.waitForTimeout(SHOWN_AFTER_MS)
    const customer = await openBrowser(product.origin, { colorScheme })
    const { page: at } = customer
    await open(at, '/sign-in')
    expect(await at.title()).toBe(`Sign in · ${NAME}`)
    await expectShown(at.locator('header').getByText(NAME))
    const logo = at.locator('header img')
    expect(await logo.evaluate((image: HTMLImageElement) => [image.complete, image.naturalWidth > 0])).toEqual([true, true])
    expect(await button(at, 'Sign in').evaluate((each) => getComputedStyle(each).backgroundColor)).toBe(colour)
    expect(await link(at, 'Imprint').getAttribute('href')).toBe('https://example.com/imprint')
    expect(await violations(at)).toEqual([])
    await open(at, '/sign-up')
    await fill(at, { 'Your name': 'Ada', Email: `ada-${colorScheme}@example.com`, Password: 'another long sentence' })
    await button(at, 'Sign up').click()
    await expectShown(heading(at, /Hello/))
    expect(await at.title()).toMatch(new RegExp(`${NAME.replace(/[<>&]/g, '.')}$`))
    await button(at, /Account menu$/).click()
    await expectShown(link(at, 'Imprint'))
    expect(await violations(at)).toEqual([])
    await open(at, '/vms')
    expect(await violations(at)).toEqual([])
    await at.goto('/docs/guides')
    await expectShown(at.locator('header').getByText(NAME))
    expect(await at.locator('header img:visible').count()).toBe(1)
    expect(await violations(at)).toEqual([])
    expectNoProblems(customer)
  })

  test('is gone when it is reset', async () => {
    await button(page, 'Reset branding').click()
    await button(dialog(page), 'Reset branding').click()
    await expectShown(page.getByText('Branding reset', { exact: true }))
    await page.waitForTimeout(SHOWN_AFTER_MS)
    await page.goto('/operator/branding')
    await expectShown(
      page
        .locator('header')
        .getByText('Berth')
        .or(page.getByRole('link', { name: /Berth/ })),
    )
    expect(await page.title()).toBe('Branding · Berth')
    expectNoProblems(operator)
  })
})
