// `berthd setup`: asks what every installation needs, writes the settings of the units, migrates the database, starts the units and prints the link for
// the first operator. Everything that can be refused is checked before something is changed; run again, it changes what is answered otherwise.
import { chown, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readConfig } from '../../config.ts'
import { hasSystemd, writeFileAtomic } from '../../host-setup/shell.ts'
import { findUser, SERVICE_USER } from '../../kernel/os-user.ts'
import { berthdAs, type Berthd } from '../berthd-as.ts'
import { UsageError } from '../errors.ts'
import { print, step } from '../output.ts'
import { collectAnswers, settingsFor, type Ask, type SetupOptions } from './answers.ts'
import { findSite, planCaddy } from './caddy.ts'
import { ensureLocalDatabase } from './local-database.ts'
import { startUnits } from './services.ts'
import { changeSettings, readSettings, type Settings } from './settings-file.ts'

/** Where things are; tests have other places. */
export interface Places {
  settingsFile: string
  dataDir: string
  caddyfile: string
  user: string
  /** The command that runs `berthd`. */
  program: string[]
}

const PLACES: Places = {
  settingsFile: '/etc/berth/berth.env',
  dataDir: '/var/lib/berth',
  caddyfile: '/etc/caddy/Caddyfile',
  user: SERVICE_USER,
  program: [process.execPath, ...process.execArgv, process.argv[1]!],
}

export async function setup(options: SetupOptions, ask: Ask | null, places: Places = PLACES): Promise<void> {
  const { settingsFile, dataDir } = places
  const user = await findUser(places.user)
  if (process.getuid?.() !== 0) throw new UsageError('Only root may do this: sudo berthd setup')
  if (!user)
    throw new UsageError(
      `There is no user ${places.user} on this machine: install the Debian package, or create it as docs/operate/install.md says`,
    )
  const text = await readFile(settingsFile, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  const before = readSettings(text)
  const caddyFiles = { caddyfile: places.caddyfile, folder: join(dirname(settingsFile), 'caddy') }
  const answers = await collectAnswers(options, before, await findSite(caddyFiles), ask)

  // With a URL that has no meaning, so that bad settings are refused before a database is made.
  const draft = changeSettings(text, settingsFor(answers, answers.databaseUrl ?? 'postgres://', before))
  const { host, port } = readConfig(readSettings(draft))
  const proxy = await planCaddy(answers, caddyFiles, `${host.includes(':') ? `[${host}]` : host}:${port}`)

  const marker = join(dirname(settingsFile), 'local-database')
  const databaseUrl =
    answers.databaseUrl ??
    (await step(
      'create the database',
      () => ensureLocalDatabase(marker, before['BERTH_DATABASE_URL']),
      () => ({ label: 'database of this machine' }),
    ))
  const changed = changeSettings(text, settingsFor(answers, databaseUrl, before))
  const settings: Settings = { ...readSettings(changed), BERTH_DATA_DIR: dataDir }
  const berthd = berthdAs(user, places.program, settings)
  await step(
    'migrate the database',
    () => berthd('migrate'),
    () => ({ label: 'database migrated' }),
  )
  await step(
    'write the settings',
    () => writeSettings(settingsFile, changed, user.gid),
    () => ({ label: `settings in ${settingsFile}` }),
  )
  await step('set up TLS', proxy, () => (answers.tls === 'proxy' ? null : { label: `Caddy serves https://${answers.domain}` }))
  const config = readConfig(settings)
  const systemd = await hasSystemd()
  if (systemd)
    await step(
      'start the units',
      () => startUnits(config, changed !== text),
      () => ({ label: 'berth.target runs' }),
    )
  print(nextSteps(config.publicUrl!, await invite(berthd), answers.tls === 'proxy', systemd))
}

/** Never readable by others, not even while it is written. */
async function writeSettings(file: string, text: string, gid: number): Promise<void> {
  await writeFile(`${file}.new`, '', { mode: 0o640 })
  await chown(`${file}.new`, 0, gid)
  await writeFileAtomic(file, text, 0o640)
}

interface Link {
  url: string
  expiresAt: string
}

/** Null when there is an operator already. */
const invite = (berthd: Berthd): Promise<Link | null> =>
  berthd('owner', 'invite').then(
    (link) => link as Link,
    (error: Error) => {
      if (error.message.startsWith('The owner already exists')) return null
      throw error
    },
  )

const nextSteps = (url: string, link: Link | null, ownProxy: boolean, systemd: boolean): string =>
  [
    '',
    link ? `The first operator signs in by this link, once, until ${link.expiresAt}:\n  ${link.url}` : `Operators sign in at ${url}`,
    'Next:',
    ...(systemd ? [] : ['  systemd does not run here: start berthd worker and berthd api yourself']),
    ...(ownProxy ? [`  a proxy that ends TLS for ${url}, and BERTH_TRUSTED_PROXIES: ${url}/docs/operate/tls`] : []),
    '  sudo berthd doctor',
    `  the first host: ${url}/docs/operate/hosts; backups: ${url}/docs/operate/backup`,
  ].join('\n')
