// Sign-up, password reset, two-factor authentication and recovery codes.
import type { Locator } from 'playwright-core'
import jsqr from 'jsqr'
import { describe, expect, test } from 'vitest'
import { codeOf } from '../../server/test/dashboard-table.ts'
import { eventually } from '../../server/test/processes.ts'
import { headerOf, smtpServer } from '../../server/test/smtp-server.ts'
import { becomeOwner, button, dialog, expectShown, fill, go, heading, link, setHidden, signOut } from './page-actions.ts'
import { violations } from './axe.ts'
import { expectNoProblems, openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

const ADA = { email: 'ada@example.com', password: 'a sentence of mine' }
const NEXT = 'another sentence of mine'
const STEP_MS = 30_000

/** Decodes the QR code from a screenshot, as a phone does. */
async function scan(picture: Locator): Promise<string | undefined> {
  const png = (await picture.screenshot()).toString('base64')
  const { pixels, width, height } = await picture.page().evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
    const { width, height } = await createImageBitmap(new Blob([bytes]))
    const drawing = new OffscreenCanvas(width, height).getContext('2d')!
    drawing.drawImage(await createImageBitmap(new Blob([bytes])), 0, 0)
    return { pixels: [...drawing.getImageData(0, 0, width, height).data], width, height }
  }, png)
  return jsqr(Uint8ClampedArray.from(pixels), width, height)?.data
}

describe('a new user', async () => {
  const mailbox = await smtpServer()
  const mail = { BERTH_SMTP_URL: mailbox.url(), BERTH_MAIL_FROM: 'noreply@cloud.example' }
  const product = await startProduct({ BERTH_SIGN_UP: 'open', ...mail })
  const owner = await openBrowser(product.origin)
  await becomeOwner(owner.page, product)
  const guest = await openBrowser(product.origin, { colorScheme: 'dark' })
  const { page } = guest
  let recoveryCodes: string[] = []

  const mailedLink = async (subject: string): Promise<string> => {
    const { to, data } = await eventually(async () => mailbox.received.find((mail) => headerOf(mail, 'subject') === subject))
    expect(to).toEqual([ADA.email])
    return /http:\S+#\w+/.exec(data.replaceAll('=\r\n', ''))![0]
  }
  const leave = async (on = page): Promise<void> => {
    await signOut(on)
    await expectShown(heading(on, 'Sign in'))
  }
  const signIn = async (password: string, on = page): Promise<void> => {
    await fill(on, { Email: ADA.email, Password: password })
    await button(on, 'Sign in').click()
  }

  test('signs up, if sign-up is open', async () => {
    await page.goto('/')
    await link(page, 'Sign up').click()
    await fill(page, { 'Your name': 'Ada', Email: ADA.email })
    expect(await page.getByLabel('Password').count()).toBe(0)
    await button(page, 'Sign up').click()
    await expectShown(page.getByText(/We sent a link to this address/))
    await page.goto(await mailedLink('Confirm your email address'))
    await fill(page, { Password: 'short' })
    await button(page, 'Sign up').click()
    await expectShown(page.getByText('Must be 10-200 characters.'))
    await fill(page, { Password: ADA.password })
    await button(page, 'Sign up').click()
    await expectShown(heading(page, /Hello/))
    await leave()
  })

  test('sees nothing of the previous user in any tab', async () => {
    await go(owner.page, 'Settings')
    await setHidden(owner.page, true)
    const beside = await owner.context.newPage()
    await beside.goto('/')
    await leave(beside)
    await signIn(ADA.password, beside)
    await expectShown(heading(beside, /Hello/))
    await setHidden(owner.page, false)
    await expectShown(heading(owner.page, /Hello/))
    await expectShown(owner.page.getByText(ADA.email))
    expect(await owner.page.getByText(OWNER.email).count()).toBe(0)
    await leave(beside)
    await setHidden(owner.page, false)
    await expectShown(heading(owner.page, 'Sign in'))
  })

  test('resets the password with a single-use email link', async () => {
    await link(page, 'Forgot your password?').click()
    await fill(page, { Email: ADA.email })
    await button(page, 'Send reset link').click()
    await expectShown(page.getByText(/a reset link has been sent/))
    const url = await mailedLink('Set a new password')
    await page.goto(url)
    await fill(page, { Password: NEXT })
    await button(page, 'Set password').click()
    await expectShown(heading(page, /Hello/))
    await leave()
    await page.goto('about:blank')
    await page.goto(url)
    await fill(page, { Password: ADA.password })
    await button(page, 'Set password').click()
    await expectShown(page.getByText(/This link was used already/))
  })

  test('enables two-factor authentication by QR code and gets recovery codes', async () => {
    await page.goto('/sign-in')
    await signIn(NEXT)
    await expectShown(heading(page, /Hello/))
    await go(page, 'Settings')
    await page.getByRole('tab', { name: 'Security' }).click()
    await button(page, 'Enable').click()
    const uri = new URL((await scan(dialog(page).getByRole('img', { name: 'QR code of the secret' })))!)
    expect(decodeURIComponent(uri.pathname)).toContain(`Berth:${ADA.email}`)
    const secret = uri.searchParams.get('secret')!
    expect(await dialog(page).getByLabel('Secret', { exact: true }).innerText()).toBe(secret)
    expect(await violations(page)).toEqual([])
    await fill(dialog(page), { 'Authentication code': codeOf(secret, new Date()) })
    await button(dialog(page), 'Enable').click()
    recoveryCodes = (await dialog(page).getByLabel('Recovery codes', { exact: true }).innerText()).split('\n')
    expect(recoveryCodes).toHaveLength(10)
    expect(await violations(page)).toEqual([])
    await dialog(page).getByLabel('I have saved this secret').check()
    await button(dialog(page), 'Done').click()
    await expectShown(page.getByText('10 recovery codes left'))
    await leave()
    await signIn(NEXT)
    await fill(page, { 'Authentication code': '000000' })
    await button(page, 'Sign in').click()
    await expectShown(page.getByText(/This code is not right/))
    await fill(page, { 'Authentication code': codeOf(secret, new Date(Date.now() + STEP_MS)) })
    await button(page, 'Sign in').click()
    await expectShown(heading(page, /Hello/))
    await leave()
  })

  test('signs in with a recovery code once and generates new ones', async () => {
    const byCode = async (code: string): Promise<void> => {
      await signIn(NEXT)
      await fill(page, { 'Authentication code': code })
      await button(page, 'Sign in').click()
    }
    await byCode(recoveryCodes[0]!)
    await expectShown(heading(page, /Hello/))
    await page.goto('/settings?tab=security')
    await expectShown(page.getByText('9 recovery codes left'))
    await button(page, 'Generate recovery codes').click()
    await button(dialog(page), 'Generate recovery codes').click()
    const shown = page.getByLabel('Recovery codes', { exact: true })
    expect((await shown.innerText()).split('\n')).not.toContain(recoveryCodes[1])
    await page.getByLabel('I have saved this secret').check()
    await button(page, 'Done').click()
    await expectShown(page.getByText('10 recovery codes left'))
    await leave()
    await byCode(recoveryCodes[1]!)
    await expectShown(page.getByText(/each recovery code works once/))
    expectNoProblems(guest)
  })
})
