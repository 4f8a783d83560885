import { mkdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { givenBrowser } from '../../../test/browser.ts'
import { testApp } from '../../../test/harness.ts'
import { scratchFolder } from '../../../test/scratch-folder.ts'
import { headerOf, smtpServer } from '../../../test/smtp-server.ts'
import { sendMails } from '../notifications/send.reconciler.ts'
import { replyAsStaff } from '../support/staff.ts'
import type { BrandingSettings } from './schema.ts'
import { DEFAULTS } from './skin.ts'

const folder = await scratchFolder()
mkdirSync(folder.path, { recursive: true })
const INDEX =
  '<!doctype html><html><head><link rel="icon" href="/favicon.svg" type="image/svg+xml" /><title>Berth</title></head><body></body></html>'
writeFileSync(`${folder.path}/index.html`, INDEX)

const smtp = await smtpServer()
const app = await testApp({
  environment: { BERTH_WEB_DIR: folder.path, BERTH_SMTP_URL: smtp.url(), BERTH_MAIL_FROM: 'Default <noreply@cloud.example>' },
})
const [operator, user] = [await givenBrowser(app, { isOperator: true }), await givenBrowser(app)]

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><rect width="8" height="8"/></svg>'
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64')
/** Up to its size. */
const png = (width: number, height: number): Buffer => {
  const bytes = Buffer.alloc(64)
  bytes.write('89504e470d0a1a0a0000000d49484452', 'hex')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return bytes
}

const change = (changes: Partial<BrandingSettings>, query = '') =>
  operator.put(`/operator/branding${query}`, { ...DEFAULTS, ...changes }, { accept: 'application/problem+json' })
const mail = (changes: Partial<BrandingSettings['mail']>) => change({ mail: { ...DEFAULTS.mail, ...changes } })
const text = (kind: string, subject: string, body: string, language = 'en') => ({ kind, language, subject, body }) as never
const open = async (url: string, headers: Record<string, string> = { accept: 'text/html' }) => app.app.inject({ url, headers })
const reset = () => operator.delete('/operator/branding')

describe('the branding', () => {
  test('is what it comes with until an operator changes it, and again when it is reset', async () => {
    const before = (await operator.get('/operator/branding')).body.data
    expect(before).toMatchObject({ ...DEFAULTS, changedAt: null, images: { logo: null, 'logo-dark': null, favicon: null } })
    expect((await change({ productName: 'Example Cloud' })).body.data).toMatchObject({ productName: 'Example Cloud' })
    expect((await operator.get('/operator/branding')).body.data.changedAt).toBe(app.clock.now().toISOString())
    await operator.put('/operator/branding/images/logo', { data: base64(SVG) })
    expect((await reset()).body.data).toEqual(before)
  })

  test('is refused to everybody else, and recorded with what changed', async () => {
    const refused = [
      await user.get('/operator/branding'),
      await user.put('/operator/branding', DEFAULTS),
      await user.delete('/operator/branding'),
      await user.put('/operator/branding/images/logo', { data: base64(SVG) }),
    ]
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    await change({ productName: 'Recorded' })
    await app.deps.audit.sweep()
    const [entry] = (await operator.get('/v1/audit-log')).body.data
    expect(entry).toMatchObject({
      action: 'operatorChangeBranding',
      changes: [{ field: 'productName', from: 'Berth', to: 'Recorded' }],
    })
    await reset()
  })

  test.each([
    ['an empty name', { productName: ' ' }, 'productName', /must have a name/],
    ['a colour by name', { accentLight: 'red' }, 'accentLight', /must be a colour/],
    [
      'a colour on which white cannot be read',
      { accentLight: '#ffcc00' },
      'accentLight',
      /white text on #ffcc00 has a contrast of 1\.5:1, and buttons need 4\.5:1\. #[\da-f]{6} has it/,
    ],
    ['one in the dark theme', { accentLight: '#5b21b6', accentDark: '#aaaaaa' }, 'accentDark', /contrast of 2\.3:1/],
    ['a colour for the dark theme alone', { accentDark: '#5b21b6' }, 'accentLight', /needs a colour, too/],
    ['a link that runs a script', { links: { ...DEFAULTS.links, terms: 'javascript:alert(1)' } }, 'links.terms', /must be a URL/],
    [
      'an address of mail where a page belongs',
      { links: { ...DEFAULTS.links, imprint: 'mailto:a@b.example' } },
      'links.imprint',
      /must be a URL/,
    ],
  ])('refuses %s', async (_, changes, field, message) => {
    const { status, body } = await change(changes as Partial<BrandingSettings>)
    expect([status, (body as unknown as { errors: unknown }).errors]).toEqual([400, [{ field, message: expect.stringMatching(message) }]])
  })

  test('suggests a colour that is accepted', async () => {
    const { body } = await change({ accentLight: '#ffcc00' })
    const [, better] = /(#[\da-f]{6}) has it/.exec(JSON.stringify(body))!
    expect((await change({ accentLight: better! })).status).toBe(200)
    await reset()
  })

  test('shows colours and mails beforehand without an effect', async () => {
    const { status, body } = await change({ productName: 'Tried', accentLight: '#5b21b6' }, '?dryRun=true')
    expect(status).toBe(200)
    expect(body.data.accents).toMatchObject({ light: { accent: '#5b21b6' }, dark: { accent: '#5b21b6' } })
    expect(body.data.mails).toHaveLength(2 * (await operator.get('/operator/branding')).body.data.mailKinds.length)
    expect(JSON.stringify(body.data.mails)).not.toMatch(/[{][a-z]+[}]/i)
    expect((await operator.get('/operator/branding')).body.data).toMatchObject({ productName: 'Berth', changedAt: null })
    expect((await change({ accentLight: '#ffffff' }, '?dryRun=true')).status).toBe(400)
  })
})

describe('the page of the dashboard', () => {
  test('has the name, the colours and the links before it draws anything, and a name cannot leave its place', async () => {
    const productName = `</script><script>alert("1")</script><b>&'`
    await change({ productName, accentLight: '#5b21b6', links: { ...DEFAULTS.links, imprint: 'https://example.com/imprint?a=1&b="<' } })
    const { body, headers } = await open('/sign-in')
    expect(body.match(/<script/g)).toHaveLength(1)
    expect(body).toContain('<title>&lt;/script&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&lt;b&gt;&amp;&#39;</title>')
    const [, data] = /<script type="application\/json" id="skin">(.*?)<\/script>/.exec(body)!
    expect(JSON.parse(data!)).toEqual({ name: productName, logo: null, links: { imprint: 'https://example.com/imprint?a=1&b="<' } })
    expect(body).toMatch(/<style>:root\{--brand-0:#[\da-f]{6};.*--brand-7:#5b21b6.*\[data-mantine-color-scheme=dark\]\{.*--brand-6:#5b21b6/)
    expect(headers['content-security-policy']).toContain("script-src 'self'")
    await reset()
  })

  test('has another ETag once the branding has changed', async () => {
    const first = await open('/')
    const etag = first.headers['etag'] as string
    expect(first.headers['cache-control']).toBe('no-cache')
    expect((await open('/vms', { accept: 'text/html', 'if-none-match': etag })).statusCode).toBe(304)
    await change({ productName: 'Example Cloud' })
    const second = await open('/', { accept: 'text/html', 'if-none-match': etag })
    expect([second.statusCode, second.body]).toEqual([200, expect.stringContaining('<title>Example Cloud</title>')])
    await reset()
  })

  test('is as it was while the database cannot be asked', async () => {
    const lost = { ...app.db, one: () => Promise.reject(new Error('lost')) }
    const { openBranding } = await import('./store.ts')
    expect((await openBranding(lost, app.deps.log).current()).settings).toEqual(DEFAULTS)
  })
})

describe('the documentation', () => {
  test('has the name, the logo and the colours', async () => {
    expect((await open('/docs/guides')).body).toMatch(/<title>[^<]+ · Berth documentation<\/title>.*<\/svg>Berth <span>docs/s)
    expect((await open('/branding/docs.css')).body).toBe('')
    await change({ productName: '<Example>', accentLight: '#5b21b6', accentDark: '#7c3aed' })
    const { body } = (await operator.put('/operator/branding/images/logo', { data: base64(SVG) })).body.data.images.logo
    expect(body).toBeUndefined()
    const page = (await open('/docs')).body
    expect(page).toContain('<title>&lt;Example&gt; API</title>')
    expect(page).toMatch(/<img class="on-light" src="\/branding\/[\da-f]{32}\.svg" alt="" height="26">.*&lt;Example&gt; <span>docs/)
    const style = await open('/branding/docs.css')
    expect(style.body).toContain('--accent:light-dark(#5b21b6,#7c3aed)')
    const etag = style.headers['etag'] as string
    expect((await open('/branding/docs.css', { 'if-none-match': etag })).statusCode).toBe(304)
    await reset()
  })
})

describe('a logo', () => {
  const put = (data: string, name = 'logo') => operator.put(`/operator/branding/images/${name}`, { data })

  test.each([
    ['SVG', SVG, 'image/svg+xml', 'svg'],
    ['PNG', png(64, 64), 'image/png', 'png'],
  ])('as %s is served in a sandbox, under an address of its own that is kept', async (_, bytes, type, ending) => {
    const { path } = (await put(base64(bytes))).body.data.images.logo
    expect(path).toMatch(new RegExp(`^/branding/[\\da-f]{32}\\.${ending}$`))
    const file = await open(path)
    expect(file.rawPayload).toEqual(Buffer.from(bytes))
    expect(file.headers).toMatchObject({
      'content-type': type,
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'x-content-type-options': 'nosniff',
      'cache-control': 'public, max-age=31536000, immutable',
    })
    expect((await open('/')).body).toContain(`"logo":{"light":"${path}","dark":"${path}","showName":true}`)
    expect((await operator.delete('/operator/branding/images/logo')).body.data.images.logo).toBeNull()
    expect((await open(path)).statusCode).toBe(404)
  })

  test.each([
    ['HTML', '<!doctype html><html><svg></svg></html>'],
    ['a script', SVG.replace('<rect', '<script>alert(1)</script><rect')],
    ['a handler', SVG.replace('<rect', '<rect onload="alert(1)"')],
    ['a link to a script', SVG.replace('<rect', '<a href="javascript:alert(1)"/><rect')],
    ['entities', SVG.replace('<svg', '<!DOCTYPE svg [<!ENTITY a "b">]><svg')],
    ['a picture of too many pixels', png(5_000, 10)],
    ['a PNG without a size', png(1, 1).subarray(0, 16)],
    ['too many bytes', Buffer.concat([png(8, 8), Buffer.alloc(131_072)])],
    ['text', 'hello'],
  ])('is refused with %s', async (_, bytes) => {
    expect((await put(base64(bytes))).status).toBe(400)
  })

  test('has one of three names', async () => {
    expect([(await put(base64(SVG), 'banner')).status, (await put('not base64!')).status]).toEqual([400, 400])
    await put(base64(SVG), 'favicon')
    expect((await open('/')).body).toMatch(/<link rel="icon" href="\/branding\/[\da-f]{32}\.svg" \/>/)
    await reset()
    expect((await open('/branding/nothing.svg')).statusCode).toBe(404)
  })
})

describe('a mail', () => {
  test.each([
    [
      'names something unknown',
      { texts: [text('ticket.reply', 'Hello', 'About {vm}')] },
      'mail.texts.0.body',
      /\{vm\} is unknown .* \{ticket\}, \{id\}, \{product\}/,
    ],
    ['has no link', { texts: [text('sign_up', 'Hello', 'Welcome')] }, 'mail.texts.0.body', /\{link\} is missing/],
    ['says nothing', { texts: [text('sign_up', ' ', '{link}')] }, 'mail.texts.0.body', /must say something/],
    ['is there twice', { texts: [text('sign_up', 'A', '{link}'), text('sign_up', 'B', '{link}')] }, 'mail.texts.1', /two texts/],
    ['has a signature that names the VM', { signature: { en: 'About {vm}', de: null } }, 'mail.signature.en', /\{vm\} is unknown/],
    ['has a sender that is an address', { senderName: 'a <b@c.example>' }, 'mail.senderName', /must not contain/],
  ])('that %s is refused', async (_, changes, field, message) => {
    const { status, body } = await mail(changes as never)
    expect([status, (body as unknown as { errors: unknown }).errors]).toEqual([400, [{ field, message: expect.stringMatching(message) }]])
  })

  test('has the name of the sender, the own text and the signature, in the language of who reads it', async () => {
    const customer = await app.given.customer()
    const browser = await givenBrowser(app)
    const texts = [text('ticket.reply', 'Re: {ticket}', 'Guten Tag,\n\nzu <b>{ticket}</b>:\nsiehe {product}', 'de')]
    await change({
      productName: 'Example & Co.',
      mail: { senderName: 'Bücher Cloud', language: 'de', signature: { en: null, de: 'Ihr Team von {product}' }, texts },
    })
    const answered = async (client: { post: typeof customer.post }, path: string) => {
      const { id } = (await client.post(path, { subject: '<i>Hilfe</i>', body: 'Bitte' })).body.data
      await app.db.tx((tx) => replyAsStaff(tx, app.deps, id, 'Hier'))
      await sendMails.runOnce(app.deps)
      return smtp.received.at(-1)!
    }
    const german = await answered(customer, '/tickets')
    expect(headerOf(german, 'subject')).toBe('Re: <i>Hilfe</i>')
    expect(headerOf(german, 'from')).toMatch(/B=C3=BCcher.*<noreply@cloud\.example>$/)
    const data = german.data.replaceAll('=\r\n', '')
    expect(data).toContain('Ihr Team von Example & Co.')
    expect(data).toContain('zu &lt;b&gt;&lt;i&gt;Hilfe&lt;/i&gt;&lt;/b&gt;:<br>siehe Example &amp; Co.')
    expect(data).not.toContain('<i>Hilfe</i></b>:<br>')
    await browser.patch('/user', { language: 'en' })
    const english = await answered(browser, '/v1/tickets')
    expect(english.data).toContain('Support has answered your ticket')
    await reset()
  })

  test('is in the language that the browser asked for at sign-in', async () => {
    const browser = await givenBrowser(app)
    await browser.post(
      '/sign-in',
      { email: browser.person.email, password: 'correct horse battery' },
      { 'accept-language': 'fr,de-AT;q=0.8,en' },
    )
    const { id } = (await browser.post('/v1/tickets', { subject: 'Hilfe', body: 'Bitte' })).body.data
    await app.db.tx((tx) => replyAsStaff(tx, app.deps, id, 'Hier'))
    await sendMails.runOnce(app.deps)
    expect(headerOf(smtp.received.at(-1)!, 'subject')).toBe('Neue Antwort auf Ihr Ticket: Hilfe')
  })
})

test('an app for two-factor codes shows the name', async () => {
  await change({ productName: 'Example Cloud' })
  const browser = await givenBrowser(app)
  expect((await browser.post('/totp')).body.data.uri).toMatch(/issuer=Example%20Cloud/)
  await reset()
})
