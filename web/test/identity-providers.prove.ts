// Signing in by an identity provider, clicked through: the certified provider of npm, on another site than the dashboard.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { codeOf } from '../../server/test/dashboard-table.ts'
import { CLIENT, realProvider } from '../../server/test/openid-provider.ts'
import { scratchFolder } from '../../server/test/scratch-folder.ts'
import { violations } from './axe.ts'
import { openBrowser, type BrowserVisit } from './browser.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, signOut } from './page-actions.ts'
import { OWNER, startProduct } from './product.ts'

const STEP_MS = 30_000

describe('an identity provider', async () => {
  const product = await startProduct({ BERTH_SIGN_UP: 'open' })
  const provider = await realProvider({ origin: product.origin, names: ['staff'], host: 'localhost' })
  afterAll(provider.close)
  const folder = await scratchFolder()
  afterAll(() => folder.remove())
  const secret = join(folder.path, 'secret')
  await writeFile(secret, CLIENT.clientSecret)
  const options = ['--issuer', provider.issuer, '--client-id', CLIENT.clientId, '--client-secret-file', secret, '--title', 'Example Inc.']
  await product.run('identity-provider', 'add', 'staff', ...options)
  provider.people.set('grace', { email: 'grace@id.example', email_verified: true, name: 'Grace' })
  provider.people.set('owner', { email: 'owner@id.example', email_verified: true, name: 'Somebody' })
  provider.people.set('eve', { email: OWNER.email, email_verified: true, name: 'Eve' })

  const giveLogin = async ({ page }: BrowserVisit, login: string): Promise<void> => {
    await page.waitForURL(`${provider.issuer}/**`)
    await page.getByPlaceholder('Enter any login').fill(login)
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
  }
  const leave = async ({ page }: BrowserVisit): Promise<void> => {
    await signOut(page)
    await expectShown(heading(page, 'Sign in'))
  }
  const toSecurity = async ({ page }: BrowserVisit): Promise<void> => {
    await go(page, 'Settings')
    await page.getByRole('tab', { name: 'Security' }).click()
  }
  /** The provider is another origin by design, and its pages ask for a font that they do not get. */
  const expectNoProblems = ({ problems }: BrowserVisit): void =>
    expect(
      problems.filter((each) => !each.startsWith(`requests ${provider.issuer}/`) && !each.startsWith('requests https://fonts.')),
    ).toEqual([])
  const visit = async (): Promise<BrowserVisit> => {
    const opened = await openBrowser(product.origin)
    await opened.context.route('https://**', (route) => route.abort())
    return opened
  }
  const owner = await visit()
  await becomeOwner(owner.page, product)

  test('signs up who is new, and leads back to the page that was asked for', async () => {
    const guest = await visit()
    await guest.page.goto('/networks')
    await expectShown(heading(guest.page, 'Sign in'))
    expect(await violations(guest.page)).toEqual([])
    await button(guest.page, 'Sign in with Example Inc.').click()
    await giveLogin(guest, 'grace')
    await expectShown(heading(guest.page, 'Networks'))
    expect(new URL(guest.page.url()).pathname).toBe('/networks')
    await expectShown(guest.page.getByText('grace@id.example'))
    const cookies = await guest.context.cookies(product.origin)
    expect(cookies.map(({ name, sameSite, httpOnly }) => [name, sameSite, httpOnly])).toEqual([['berth', 'Strict', true]])
    await leave(guest)
    // Signing out ends the session here, not the one there.
    await button(guest.page, 'Sign in with Example Inc.').click()
    await expectShown(heading(guest.page, /Hello/))
    expectNoProblems(guest)
  })

  test('does not sign in somebody else by the same address', async () => {
    const guest = await visit()
    await guest.page.goto('/sign-in')
    await button(guest.page, 'Sign in with Example Inc.').click()
    await giveLogin(guest, 'eve')
    await expectShown(heading(guest.page, 'Sign-in failed'))
    await expectShown(guest.page.getByText(/sign in with the password first, and link Example Inc./))
    expect(guest.page.url()).toBe(`${product.origin}/sign-in/with/staff`)
    expect(await violations(guest.page)).toEqual([])
    expectNoProblems(guest)
  })

  test('is linked in the settings, signs in with the own second factor, and is unlinked', async () => {
    const { page } = owner
    await toSecurity(owner)
    await button(page, 'Link Example Inc.').click()
    await giveLogin(owner, 'owner')
    await expectShown(page.getByRole('cell', { name: 'owner@id.example' }))
    expect(await violations(page)).toEqual([])
    await button(page, 'Enable').click()
    const totp = await dialog(page).getByLabel('Secret', { exact: true }).innerText()
    await fill(dialog(page), { 'Authentication code': codeOf(totp, new Date()) })
    await button(dialog(page), 'Enable').click()
    const [recoveryCode = ''] = (await dialog(page).getByLabel('Recovery codes', { exact: true }).innerText()).split('\n')
    await dialog(page).getByLabel('I have saved this secret').check()
    await button(dialog(page), 'Done').click()
    await leave(owner)
    await button(page, 'Sign in with Example Inc.').click()
    await expectShown(page.getByText('Your account has two-factor authentication.'))
    await fill(page, { 'Authentication code': '000000' })
    await button(page, 'Sign in').click()
    await expectShown(page.getByText(/This code is not right/))
    await fill(page, { 'Authentication code': codeOf(totp, new Date(Date.now() + STEP_MS)) })
    await button(page, 'Sign in').click()
    await expectShown(heading(page, /Hello/))
    await expectShown(page.getByText(OWNER.email))
    await toSecurity(owner)
    const unlink = async (): Promise<void> => {
      await button(page, 'Unlink Example Inc.').click()
      await button(dialog(page), 'Unlink').click()
    }
    // The provider did not say when it last asked for a password, so it is asked to do that.
    await unlink()
    const proof = page.getByRole('dialog', { name: 'Confirm your password' })
    await fill(proof, { 'Authentication code': recoveryCode })
    await button(proof, 'Confirm with Example Inc.').click()
    await giveLogin(owner, 'owner')
    await expectShown(button(page, 'Unlink Example Inc.'))
    await unlink()
    await expectShown(page.getByText('Account unlinked'))
    await expectShown(button(page, 'Link Example Inc.'))
    expectNoProblems(owner)
  })
})
