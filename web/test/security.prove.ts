// Attacks from other origins (CSRF, framing, session fixation) and password guessing.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { newToken } from '../../server/src/kernel/crypto.ts'
import { becomeOwner, button, expectShown, fill, heading } from './page-actions.ts'
import { openBrowser } from './browser.ts'
import { OWNER, startProduct } from './product.ts'

const WRONG_TRIES = 50

/** An attacker's page: same site under one hostname, cross-site under the other. */
async function foreignPage(origin: string): Promise<string[]> {
  const target = `${origin}/api/dashboard`
  const html = `<!doctype html><title>Prizes</title>
<iframe name="framed" src="${origin}/sign-in"></iframe><iframe name="docs" src="${origin}/docs"></iframe>
<form method="post" action="${target}/sign-out" target="answer"><button>You have won</button></form><iframe name="answer"></iframe>`
  const server = createServer((_, response) => void response.setHeader('content-type', 'text/html').end(html)).listen(0)
  await once(server, 'listening')
  afterAll(() => void server.close())
  const { port } = server.address() as AddressInfo
  return [`http://127.0.0.1:${port}`, `http://localhost:${port}`]
}

describe('the dashboard', async () => {
  const product = await startProduct()
  const owner = await openBrowser(product.origin)
  const { page, context } = owner
  await becomeOwner(page, product)
  const pages = await foreignPage(product.origin)
  const isSignedIn = async (): Promise<boolean> => (await page.request.get('/api/dashboard/session')).status() === 200

  test.each(pages)('rejects forms and requests from %s', async (url) => {
    const foreign = await context.newPage()
    await foreign.goto(url)
    const answered = foreign.waitForResponse(/\/sign-out$/)
    await button(foreign, 'You have won').click()
    expect((await answered).status()).toBeGreaterThanOrEqual(400)
    const seen = await foreign.evaluate(async (target) => {
      const send = (options: RequestInit) =>
        fetch(target, { method: 'POST', credentials: 'include', ...options }).then(
          ({ type }) => type,
          () => 'refused',
        )
      const json = { headers: { 'content-type': 'application/json' }, body: '{}' }
      return [await send(json), await send({ mode: 'no-cors', body: '{}' })]
    }, `${product.origin}/api/dashboard/sign-out`)
    expect(seen).toEqual(['refused', 'refused'])
    expect(await isSignedIn()).toBe(true)
    await foreign.close()
  })

  test('cannot be framed', async () => {
    const foreign = await context.newPage()
    await foreign.goto(pages[0]!)
    for (const name of ['framed', 'docs']) {
      const frame = foreign.frame(name)!
      await expect.poll(() => frame.url()).toMatch(/^chrome-error:/)
      expect(await frame.locator('input').count()).toBe(0)
    }
    await foreign.close()
  })

  test('ignores a planted session cookie', async () => {
    const planted = { name: 'berth', value: newToken('ses_'), url: product.origin }
    const victim = await openBrowser(product.origin)
    await victim.context.addCookies([planted])
    await victim.page.goto('/')
    await fill(victim.page, { Email: OWNER.email, Password: OWNER.password })
    await button(victim.page, 'Sign in').click()
    await expectShown(heading(victim.page, /Hello/))
    const cookies = await victim.context.cookies()
    expect(cookies).toEqual([expect.objectContaining({ name: 'berth', httpOnly: true, sameSite: 'Strict' })])
    expect(cookies[0]!.value).not.toBe(planted.value)
    const attacker = await openBrowser(product.origin)
    await attacker.context.addCookies([planted])
    expect((await attacker.page.request.get('/api/dashboard/session')).status()).toBe(401)
  })

  test(`locks out ${WRONG_TRIES} password guesses, and keeps existing sessions`, async () => {
    const guesser = await openBrowser(product.origin)
    await guesser.page.goto('/sign-in')
    await fill(guesser.page, { Email: OWNER.email })
    const guess = async (password: string): Promise<number> => {
      await fill(guesser.page, { Password: password })
      const answered = guesser.page.waitForResponse(/\/sign-in$/)
      await button(guesser.page, 'Sign in').click()
      return (await answered).status()
    }
    const statuses: number[] = []
    for (let i = 0; i < WRONG_TRIES; i++) statuses.push(await guess(`a wrong guess ${i}`))
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.slice(10)).toEqual(Array(WRONG_TRIES - 10).fill(429))
    expect(await guess(OWNER.password)).toBe(429)
    await expectShown(guesser.page.getByText(/Too many wrong attempts: try again in \d+ minutes/))
    expect(await isSignedIn()).toBe(true)
  })
})
