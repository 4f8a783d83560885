// Whoever chooses the Host of a request, or what a proxy says of it, chooses no link with a secret, no redirect and no cookie.
import { beforeAll, describe, expect, test } from 'vitest'
import type { Attack } from './attacker.ts'
import { expectUnharmed, legitimateCustomer, measureImpact, send, startTarget } from './legitimate-customer.ts'
import { berthdJson, eventually } from './processes.ts'
import { smtpServer } from './smtp-server.ts'

const EVIL = 'evil.example'
/** Every way to name another host. */
const FORGED: Record<string, string>[] = [
  { host: EVIL },
  { host: `${EVIL}:443` },
  { host: `localhost.${EVIL}` },
  { host: `127.0.0.1@${EVIL}` },
  { host: `127.0.0.1/${EVIL}` },
  { host: `${EVIL}#127.0.0.1` },
  { host: '' },
  { 'x-forwarded-host': EVIL },
  { 'x-forwarded-host': `localhost, ${EVIL}`, 'x-forwarded-proto': 'https' },
  { 'x-host': EVIL, 'x-original-host': EVIL, 'x-forwarded-server': EVIL, 'x-rewrite-url': `https://${EVIL}/` },
  { forwarded: `host=${EVIL};proto=https` },
]

const mails = await smtpServer()
const mail = { BERTH_SMTP_URL: mails.url(), BERTH_MAIL_FROM: 'noreply@cloud.example', BERTH_SIGN_UP: 'open' }

describe.each([
  ['without BERTH_PUBLIC_URL', {}],
  ['with BERTH_PUBLIC_URL', { BERTH_PUBLIC_URL: 'https://cloud.example' }],
])('%s', async (_name, settings: Record<string, string>) => {
  const target = await startTarget('up', { ...mail, ...settings })
  const customer = await legitimateCustomer(target)
  let vmId: string
  const own = (): string[] => [new URL(settings['BERTH_PUBLIC_URL'] ?? target.origin).host]
  beforeAll(async () => {
    const { body } = await send(`${target.url}/vms`, 'GET', { 'x-api-key': customer.token })
    vmId = body.data[0].id as string
    await eventually(async () => {
      const vm = await send(`${target.url}/vms/${vmId}`, 'GET', { 'x-api-key': customer.token })
      return vm.body.data.status === 'RUNNING'
    })
    await berthdJson(target.settings, 'user', 'link', '--account', customer.email)
  })

  test.each(FORGED)('links of consoles do not follow %j', async (forged) => {
    const { status, body } = await send(
      `${target.url}/vms/${vmId}/console`,
      'POST',
      { 'x-api-key': customer.token, ...forged },
      { type: 'serial' },
    )
    if (status === 400) return // not a host at all
    const { url } = body.data as { url: string }
    expect([status, [new URL(url).host]]).toEqual([201, own()])
  })

  test('links in mails do not follow any of them', async () => {
    const address = (i: number): string => `10.77.0.${i}`
    mails.received.splice(0)
    for (const [i, forged] of FORGED.entries()) {
      const page = { 'x-forwarded-for': address(i), 'sec-fetch-site': 'same-origin', ...forged }
      await send(`${target.origin}/api/dashboard/password-reset`, 'POST', page, { email: customer.email })
      await send(`${target.origin}/api/dashboard/sign-up`, 'POST', page, { email: `new${i}@example.com`, name: 'x' })
    }
    await eventually(async () => mails.received.length > 3)
    for (const { data } of mails.received) {
      expect(data).not.toContain(EVIL)
      const links = data.replaceAll('=\r\n', '').match(/https?:\/\/[^\s"<>]+/g) ?? []
      expect(links.map((link) => new URL(link).host)).toEqual(links.map(() => own()[0]))
    }
  })

  test.each(FORGED)('no page, redirect or error repeats %j', async (forged) => {
    for (const path of [
      '/',
      '/sign-in',
      '/docs',
      '/docs/',
      '/api/public/v1/openapi.json',
      '/api/public/v1',
      `//${EVIL}/`,
      `/%2f%2f${EVIL}`,
      '/nothing',
    ]) {
      const { status, headers, body } = await send(`${target.origin}${path}`, 'GET', { 'x-forwarded-for': '10.78.0.1', ...forged })
      expect([path, status]).not.toEqual([path, 500]) // 503: the dashboard is not built
      const text = typeof body === 'string' ? (body as string) : JSON.stringify(body)
      expect(text.replaceAll(path, '')).not.toContain(EVIL)
      const location = (headers['location'] as string | undefined) ?? '/'
      expect(new URL(location, target.origin).host).toBe(new URL(target.origin).host)
    }
  })

  test('a flood of them delays nobody', async () => {
    const flood: Attack = {
      perSecond: 100,
      shots: Array.from({ length: 10_000 }, (_, n) => ({
        method: 'GET',
        url: `${target.origin}/console?token=x`,
        headers: { 'x-forwarded-for': `10.${n % 200}.${Math.floor(n / 200)}.1`, ...FORGED[n % FORGED.length] },
      })),
    }
    const impact = await measureImpact(flood, () => customer.work())
    expect(Object.keys(impact.statuses).filter((status) => Number(status) >= 500)).toEqual([])
    expectUnharmed(impact)
  })
})
