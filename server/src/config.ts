// Every setting: its variable, its default and one sentence. This is the only file that reads the environment.
import { join, resolve } from 'node:path'
import { formatCidr, parseCidr } from './kernel/cidr.ts'
import { packageDir, PROJECT_DIR } from './kernel/paths.ts'

interface Setting<T> {
  variable: string
  about: string
  fallback: string | null
  read: (text: string) => T
}

const text = (value: string): string => value
const list = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

/** As browsers send them: scheme, host and a port that is not the usual one. */
function originList(value: string): string[] {
  const origins = list(value)
  const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.parse(text)?.origin === text
  if (!origins.every(isOrigin)) throw new Error('must be origins such as https://app.example.com, separated by commas')
  return origins
}

function rangeList(value: string): string[] {
  const ranges = list(value)
  if (!ranges.every(parseCidr)) throw new Error('must be ranges such as 192.168.1.0/24, separated by commas')
  return ranges.map((range) => formatCidr(parseCidr(range)!))
}

/** Without a password, so that it can be shown: that is for a header. */
function collectorUrl(value: string): string {
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search)
    throw new Error('must be a URL such as http://127.0.0.1:4318, without user, password and query')
  return value
}

function currency(value: string): string {
  if (!/^[a-z]{3}$/i.test(value)) throw new Error('must be three letters, such as EUR')
  return value.toUpperCase()
}

function flag(value: string): boolean {
  if (/^(true|1|yes)$/i.test(value)) return true
  if (/^(false|0|no|)$/i.test(value)) return false
  throw new Error('must be true or false')
}

function whole(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value)
    if (!Number.isInteger(number) || number < least || number > most) throw new Error(`must be a whole number from ${least} to ${most}`)
    return number
  }
}

function oneOf<const T extends string>(...choices: T[]) {
  return (value: string): T => {
    const choice = choices.find((each) => each === value)
    if (!choice) throw new Error(`must be one of ${choices.join(', ')}`)
    return choice
  }
}

function setting<T>(variable: string, fallback: string, about: string, read: (text: string) => T): Setting<T> {
  return { variable, fallback, about, read }
}

function optional<T>(variable: string, about: string, read: (text: string) => T): Setting<T | null> {
  return { variable, fallback: null, about, read }
}

export const SETTINGS = {
  host: setting('BERTH_HOST', '127.0.0.1', 'Address the API listens on', text),
  port: setting('BERTH_PORT', '8080', 'Port the API listens on; 0 picks a free one', whole(0, 65_535)),
  dataDir: setting(
    'BERTH_DATA_DIR',
    join(PROJECT_DIR, '.berth'),
    'Folder for the embedded database, keys and logs; default .berth in the project',
    text,
  ),
  rescueTemplate: setting(
    'BERTH_RESCUE_TEMPLATE',
    'tiny',
    'Slug of the OS template that VMs in rescue start; its twin for another architecture is found by itself',
    text,
  ),
  databaseUrl: optional('BERTH_DATABASE_URL', 'PostgreSQL 15 or later; unset starts an embedded PostgreSQL 18 in the data folder', text),
  databaseConnections: setting('BERTH_DATABASE_CONNECTIONS', '16', 'Connections each process may open to the database', whole(2, 500)),
  redisUrl: optional(
    'BERTH_REDIS_URL',
    'Redis or Valkey for rate limits shared by several processes; unset uses PostgreSQL, or memory under `up`',
    text,
  ),
  hypervisor: setting(
    'BERTH_HYPERVISOR',
    'auto',
    'Hypervisor of the local host: auto, libvirt or simulated',
    oneOf('auto', 'libvirt', 'simulated'),
  ),
  guestAllowedRanges: setting(
    'BERTH_GUEST_ALLOWED_RANGES',
    '',
    'Comma-separated private or shared ranges that VMs may reach from their public addresses, such as 192.168.1.0/24; none by default',
    rangeList,
  ),
  webDir: setting(
    'BERTH_WEB_DIR',
    join(packageDir('@berth/web') ?? join(PROJECT_DIR, 'web'), 'dist'),
    "Folder of the dashboard's files; default web/dist in the project",
    text,
  ),
  signUp: setting(
    'BERTH_SIGN_UP',
    'closed',
    'Whether anyone may create an account in the dashboard: open or closed',
    oneOf('open', 'closed'),
  ),
  allowPlainHttp: setting(
    'BERTH_ALLOW_PLAIN_HTTP',
    'false',
    'Allow sign-in over plain http from other machines: passwords can be read in transit',
    flag,
  ),
  trustedProxies: setting('BERTH_TRUSTED_PROXIES', '', 'Comma-separated addresses or ranges whose X-Forwarded-For is trusted', list),
  corsOrigins: setting(
    'BERTH_CORS_ORIGINS',
    '',
    'Comma-separated origins whose pages may call the public API with a token (CORS), such as https://app.example.com; none by default',
    originList,
  ),
  allowPrivateWebhooks: setting(
    'BERTH_ALLOW_PRIVATE_WEBHOOKS',
    'false',
    'Allow webhooks to http and private addresses, for development',
    flag,
  ),
  masterKeyFile: optional('BERTH_MASTER_KEY_FILE', 'File with the key that encrypts secrets; default master.key in the data folder', text),
  imagesDir: optional('BERTH_IMAGES_DIR', 'Folder for the images of OS templates; default images in the data folder', text),
  catalogFile: optional(
    'BERTH_CATALOG_FILE',
    'Catalog file that adds missing regions, plans and templates at start; default the included one',
    text,
  ),
  currency: setting('BERTH_CURRENCY', 'USD', 'Currency of all prices and wallets, as three letters', currency),
  payments: setting(
    'BERTH_PAYMENTS',
    'auto',
    'How customers add funds: auto (Stripe when its keys are set, otherwise disabled), manual (an operator confirms) or off',
    oneOf('auto', 'manual', 'off'),
  ),
  paymentInstructions: setting('BERTH_PAYMENT_INSTRUCTIONS', '', 'Bank details shown to customers under BERTH_PAYMENTS=manual', text),
  pdnsUrl: optional(
    'BERTH_PDNS_URL',
    'HTTP API of a PowerDNS server for reverse DNS, such as http://127.0.0.1:8053; unset: no reverse names',
    text,
  ),
  pdnsKey: optional('BERTH_PDNS_KEY', 'API key of the PowerDNS server', text),
  stripeSecretKey: optional('BERTH_STRIPE_SECRET_KEY', 'Secret key of the Stripe account that receives deposits', text),
  stripeWebhookSecret: optional('BERTH_STRIPE_WEBHOOK_SECRET', 'Signing secret of the Stripe webhook endpoint /webhooks/stripe', text),
  stripeApiUrl: setting('BERTH_STRIPE_API_URL', 'https://api.stripe.com', 'URL of the Stripe API, for tests', text),
  sellerName: setting('BERTH_SELLER_NAME', 'Berth', 'Name of the seller on invoices', text),
  sellerAddress: setting('BERTH_SELLER_ADDRESS', '', 'Address of the seller on invoices; | starts a new line', text),
  sellerTax: setting('BERTH_SELLER_TAX', '', 'Tax note on invoices, for example a VAT number or the reason for an exemption', text),
  backupProofShare: setting(
    'BERTH_BACKUP_PROOF_SHARE',
    '25',
    'Percent of the free capacity of a host that the guest may take in which a backup is proved; 0 proves none',
    whole(0, 90),
  ),
  testClock: setting(
    'BERTH_TEST_CLOCK',
    'false',
    'Create a new database with a test clock that can be advanced: only for evaluation',
    flag,
  ),
  publicUrl: optional('BERTH_PUBLIC_URL', 'Public URL of the API and the dashboard, for links and cookies; default http://host:port', text),
  smtpUrl: optional('BERTH_SMTP_URL', 'SMTP server, such as smtp://user:password@mail.example.com:587; unset sends no email', text),
  mailFrom: optional('BERTH_MAIL_FROM', 'Sender of emails, such as "Example Cloud <noreply@example.com>"', text),
  metricsHost: setting('BERTH_METRICS_HOST', '127.0.0.1', 'Address /metrics listens on', text),
  metricsPort: optional('BERTH_METRICS_PORT', 'Port of /metrics; default the API port + 1; 0 picks a free one', whole(0, 65_535)),
  otlpUrl: optional(
    'BERTH_OTLP_URL',
    'OpenTelemetry collector that traces are sent to by OTLP over HTTP, such as http://127.0.0.1:4318; unset: no traces',
    collectorUrl,
  ),
  otlpHeaders: setting('BERTH_OTLP_HEADERS', '', 'Headers for the collector, such as authorization=Bearer abc, separated by commas', text),
  tracePercent: setting('BERTH_TRACE_PERCENT', '100', 'Percent of the requests that are traced', whole(0, 100)),
  logLevel: setting(
    'BERTH_LOG_LEVEL',
    'info',
    'fatal, error, warn, info, debug or trace',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  logFormat: setting(
    'BERTH_LOG_FORMAT',
    'auto',
    'auto (readable on a terminal, else JSON), json or pretty',
    oneOf('auto', 'json', 'pretty'),
  ),
  workerConcurrency: setting(
    'BERTH_WORKER_CONCURRENCY',
    '32',
    'Actions that one worker process runs concurrently, beside them a quarter as many backups, and an eighth as many imports of images, migrations, and VMs that move to be resized each',
    whole(1, 1_000),
  ),
  drainSeconds: setting(
    'BERTH_DRAIN_SECONDS',
    '10',
    'How long a stopping process waits for open requests and workflow steps',
    whole(0, 600),
  ),
  drainDelaySeconds: setting(
    'BERTH_DRAIN_DELAY_SECONDS',
    '5',
    'How long before that `api` goes on as ever while /readyz answers 503: longer than load balancers take to notice',
    whole(0, 600),
  ),
}

type Values = { [Name in keyof typeof SETTINGS]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never }

export interface Config extends Omit<Values, 'masterKeyFile' | 'imagesDir' | 'metricsPort'> {
  masterKeyFile: string
  imagesDir: string
  metricsPort: number
  /** How an operator calls `berthd` here. */
  command: string
}

/** Variables of `berth`, the customers' CLI, which may run in the same environment. */
const CUSTOMERS_OWN = ['BERTH_URL', 'BERTH_TOKEN', 'BERTH_CONTEXT']

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const values = Object.fromEntries(
    Object.entries<Setting<unknown>>(SETTINGS).map(([name, each]) => [name, readOne(each, environment)]),
  ) as Values
  const known = new Set(Object.values(SETTINGS).map((each) => each.variable))
  for (const variable of CUSTOMERS_OWN) known.add(variable)
  const unknown = Object.keys(environment).find((variable) => variable.startsWith('BERTH_') && !known.has(variable))
  if (unknown) throw new Error(`Unknown setting ${unknown}. The settings are: ${[...known].join(', ')}`)
  const dataDir = resolve(values.dataDir)
  return {
    ...values,
    dataDir,
    webDir: resolve(values.webDir),
    masterKeyFile: values.masterKeyFile ?? join(dataDir, 'master.key'),
    imagesDir: resolve(values.imagesDir ?? join(dataDir, 'images')),
    metricsPort: values.metricsPort ?? (values.port === 0 ? 0 : values.port + 1),
    command: berthdCommand(environment),
  }
}

/** As this process was given them, for another one. */
export const givenSettings = (environment: NodeJS.ProcessEnv = process.env): Record<string, string> =>
  Object.fromEntries(
    Object.values<Setting<unknown>>(SETTINGS).flatMap(({ variable }) => {
      const given = environment[variable]
      return given === undefined ? [] : [[variable, given]]
    }),
  )

/** How an operator calls `berthd` here: the wrappers of package and units say it, in a variable that is no setting. */
export const berthdCommand = (environment: NodeJS.ProcessEnv = process.env): string => environment['BERTHD_COMMAND'] ?? 'npx berthd'

/** Those that are set. Of free text, which may be a secret or contain one, only that it is. */
export const describeSettings = (environment: NodeJS.ProcessEnv = process.env): Record<string, unknown> =>
  Object.fromEntries(
    Object.values<Setting<unknown>>(SETTINGS).flatMap((each) =>
      environment[each.variable] === undefined ? [] : [[each.variable, each.read === text ? '(set)' : readOne(each, environment)]],
    ),
  )

function readOne<T>(each: Setting<T>, environment: NodeJS.ProcessEnv): T | null {
  const given = environment[each.variable] ?? each.fallback
  if (given === null || (given === '' && each.fallback === null)) return null
  try {
    return each.read(given)
  } catch (error) {
    throw new Error(`${each.variable}=${given}: ${(error as Error).message}`, { cause: error })
  }
}
