// The dashboard in the language of the browser or of the user: the words of one language are downloaded, and dates and prices follow it.
import { describe, expect, test } from 'vitest'
import { becomeOwner, expectShown, heading } from './page-actions.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { startProduct } from './product.ts'

describe('the language', async () => {
  const product = await startProduct()
  const visitor = await openBrowser(product.origin, { locale: 'de-AT' })
  const { page } = visitor
  await becomeOwner((await openBrowser(product.origin)).page, product)
  const words = new Set<string>()
  page.on('request', (request) => {
    const [, language] = /words-(\w\w)-/.exec(request.url()) ?? []
    if (language) words.add(language)
  })
  const lang = () => page.locator('html').getAttribute('lang')

  test('is that of the browser, whose words alone are downloaded', async () => {
    await page.goto('/sign-in')
    await expectShown(heading(page, 'Anmelden'))
    expect(await lang()).toBe('de')
    expect([...words]).toEqual(['de'])
  })

  test('is what the user chooses, from then on', async () => {
    words.clear()
    await page.getByLabel('Sprache').selectOption('English')
    await expectShown(heading(page, 'Sign in'))
    expect(await lang()).toBe('en')
    await page.reload()
    await expectShown(heading(page, 'Sign in'))
    expect([...words]).toEqual(['en'])
    await page.getByLabel('Language').selectOption('Deutsch')
    await expectShown(heading(page, 'Anmelden'))
    expectNoProblems(visitor)
  })
})
