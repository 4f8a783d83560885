import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratchFolder } from '../../../test/scratch-folder.ts'
import { collectAnswers, settingsFor, type Ask, type SetupOptions } from './answers.ts'

const GIVEN: SetupOptions = { domain: 'Cloud.example.com', databaseUrl: 'postgres://a@b/c' }
const CA = 'https://ca.example.com/acme/directory'
const BEFORE = { BERTH_PUBLIC_URL: 'https://old.example.com', BERTH_DATABASE_URL: 'postgres://x@y/z' }

/** Answers one question after the other; the questions are in `asked`. */
function person(...answers: string[]): { ask: Ask; asked: string[] } {
  const asked: string[] = []
  const ask: Ask = async (question, usual) => {
    asked.push(`${question} [${usual}]`)
    return answers.shift()!
  }
  return { ask, asked }
}

describe('without a terminal', () => {
  test('options are enough', async () =>
    expect(await collectAnswers(GIVEN, {}, undefined, null)).toEqual({
      domain: 'cloud.example.com',
      tls: 'proxy',
      certificate: '',
      key: '',
      acmeDirectory: '',
      acmeRoot: '',
      databaseUrl: 'postgres://a@b/c',
      smtpUrl: '',
      mailFrom: '',
      hypervisor: 'libvirt',
    }))

  test('what was set up before is kept', async () =>
    expect(await collectAnswers({}, BEFORE, { tls: 'acme', acmeDirectory: CA }, null)).toMatchObject({
      domain: 'old.example.com',
      tls: 'acme',
      acmeDirectory: CA,
      databaseUrl: 'postgres://x@y/z',
    }))

  test("another authority than Let's Encrypt means ACME, until it is Let's Encrypt again", async () => {
    expect(await collectAnswers({ ...GIVEN, acmeDirectory: CA }, {}, undefined, null)).toMatchObject({ tls: 'acme', acmeDirectory: CA })
    const before = { tls: 'acme', acmeDirectory: CA } as const
    expect(await collectAnswers({ ...GIVEN, acmeDirectory: '' }, BEFORE, before, null)).toMatchObject({ tls: 'acme', acmeDirectory: '' })
    expect(await collectAnswers({ ...GIVEN, tls: 'proxy' }, BEFORE, before, null)).toMatchObject({ acmeDirectory: '' })
  })

  test('PostgreSQL of this machine is chosen explicitly', async () => {
    expect(await collectAnswers({ domain: 'a.example', localDatabase: true }, {}, undefined, null)).toMatchObject({ databaseUrl: null })
    await expect(collectAnswers({ domain: 'a.example' }, {}, undefined, null)).rejects.toThrow('Give --database-url or --local-database')
  })

  test('URLs with passwords are read from files', async () => {
    const folder = await scratchFolder()
    const [database, smtp, nothing] = ['database', 'smtp', 'nothing'].map((name) => join(folder.path, name)) as [string, string, string]
    await writeFile(database, 'postgres://a:secret@b/c\n')
    await writeFile(smtp, 'smtp://a:secret@b\n')
    await writeFile(nothing, '\n')
    const domain = 'a.example'
    const given = { domain, databaseUrlFile: database, smtpUrlFile: smtp, mailFrom: 'noreply@a.example' }
    expect(await collectAnswers(given, BEFORE, undefined, null)).toMatchObject({
      databaseUrl: 'postgres://a:secret@b/c',
      smtpUrl: 'smtp://a:secret@b',
    })
    for (const [options, message] of [
      [{ ...GIVEN, databaseUrlFile: database }, 'Give either --database-url or --database-url-file'],
      [{ ...GIVEN, smtpUrl: 'smtp://b', smtpUrlFile: smtp }, 'Give either --smtp-url or --smtp-url-file'],
      [{ domain, databaseUrlFile: database, localDatabase: true }, 'Give either --database-url or --local-database'],
      [{ domain, databaseUrlFile: join(folder.path, 'none') }, 'cannot be read'],
      [{ domain, databaseUrlFile: nothing }, 'is empty'],
      [{ domain, databaseUrlFile: smtp }, '--database-url must be a URL that begins with postgres://'],
    ] as [SetupOptions, string][])
      await expect(collectAnswers(options, {}, undefined, null)).rejects.toThrow(message)
    await folder.remove()
  })

  test.each<[string, SetupOptions, string]>([
    ['no domain', { ...GIVEN, domain: '' }, '"" is not a domain'],
    ['an address', { ...GIVEN, domain: '192.168.0.1' }, 'is not a domain'],
    ['a URL as domain', { ...GIVEN, domain: 'https://a.example' }, 'is not a domain'],
    ['a second site in the domain', { ...GIVEN, domain: 'a.example {\n}' }, 'is not a domain'],
    ['another database', { ...GIVEN, databaseUrl: 'mysql://a/b' }, '--database-url must be a URL that begins with postgres://'],
    ['two databases', { ...GIVEN, localDatabase: true }, 'either --database-url or --local-database'],
    ['no certificate', { ...GIVEN, tls: 'certificate' }, 'Give --certificate'],
    ['no key', { ...GIVEN, certificate: '/tmp/a' }, 'Give --key'],
    [
      'a directory without TLS',
      { ...GIVEN, acmeDirectory: 'http://ca.example.com' },
      '--acme-directory must be a URL that begins with https://',
    ],
    ['settings in a directory', { ...GIVEN, acmeDirectory: 'https://ca.example.com/ {' }, 'is not a URL that Caddy'],
    ['a directory for a proxy', { ...GIVEN, tls: 'proxy', acmeDirectory: CA }, 'are for --tls acme'],
    ["a root for Let's Encrypt", { ...GIVEN, tls: 'acme', acmeRoot: '/tmp/a' }, 'Give --acme-directory'],
    [
      'a certificate that nobody would use',
      { ...GIVEN, tls: 'acme', certificate: '/tmp/a', key: '/tmp/b' },
      'are for --tls certificate, not for --tls acme',
    ],
    ['a key alone', { ...GIVEN, key: '/tmp/b' }, 'are for --tls certificate, not for --tls proxy'],
    ['no SMTP server', { ...GIVEN, smtpUrl: 'mail.example.com' }, '--smtp-url must be a URL that begins with smtp://'],
    ['no sender', { ...GIVEN, smtpUrl: 'smtp://mail.example.com' }, 'give --mail-from'],
  ])('%s is refused', (_, options, message) => expect(collectAnswers(options, {}, undefined, null)).rejects.toThrow(message))
})

describe('with a terminal', () => {
  test('asks for what is not given, and again after a bad answer', async () => {
    const { ask, asked } = person('nonsense', 'a.example', '', '', 'smtp://m.example', 'Cloud <a@a.example>')
    expect(await collectAnswers({}, {}, undefined, ask)).toEqual({
      domain: 'a.example',
      tls: 'acme',
      certificate: '',
      key: '',
      acmeDirectory: '',
      acmeRoot: '',
      databaseUrl: null,
      smtpUrl: 'smtp://m.example',
      mailFrom: 'Cloud <a@a.example>',
      hypervisor: 'libvirt',
    })
    expect(asked.length).toBe(6)
    expect(asked[1]).toMatch(/^"nonsense" is not a domain[^]*\nDomain of the dashboard/)
  })

  test('Enter keeps what was set up before', async () => {
    const { ask, asked } = person('', '', '', '')
    expect(await collectAnswers({}, BEFORE, undefined, ask)).toMatchObject({
      domain: 'old.example.com',
      tls: 'proxy',
      databaseUrl: 'postgres://x@y/z',
    })
    expect(asked[0]).toContain('[old.example.com]')
  })

  test('asks nothing that is given', async () => {
    const { ask, asked } = person('')
    await collectAnswers({ ...GIVEN, tls: 'proxy' }, {}, undefined, ask)
    expect(asked.map((question) => question.split(',')[0])).toEqual(['SMTP server'])
  })
})

describe('settings', () => {
  const settings = async (options: SetupOptions, before = {}) =>
    settingsFor(await collectAnswers(options, before, undefined, null), 'postgres://a@b/c', before)

  test('trust the proxy that setup makes', async () => {
    expect(await settings({ ...GIVEN, tls: 'acme' })).toEqual({
      BERTH_DATABASE_URL: 'postgres://a@b/c',
      BERTH_PUBLIC_URL: 'https://cloud.example.com',
      BERTH_HYPERVISOR: 'libvirt',
      BERTH_TRUSTED_PROXIES: '127.0.0.1',
    })
    expect(await settings({ ...GIVEN, tls: 'acme' }, { BERTH_TRUSTED_PROXIES: '10.0.0.1' })).not.toHaveProperty('BERTH_TRUSTED_PROXIES')
  })

  test('that are there already are checked too', () =>
    expect(settings(GIVEN, { BERTH_PORT: 'eighty' })).rejects.toThrow('BERTH_PORT=eighty: must be a whole number'))
})
