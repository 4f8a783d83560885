// Who may import whom, and what may be said where. Given the files of server/ by path (`src/kernel/database/db.ts`), answers every violation as a
// sentence. The rules are data: to allow something is a line here, and a decision.
import { posix } from 'node:path'

export type Files = Map<string, string>

/** What each part of src may import besides itself. `compose.ts` and `commands` put the product together, so they see everything. */
const PARTS: Record<string, string[]> = {
  kernel: [],
  schema: ['kernel'],
  http: ['kernel', 'schema'],
  workflow: ['kernel', 'schema'],
  hypervisor: ['kernel', 'schema'],
  invariants: ['kernel', 'hypervisor'],
  images: ['kernel', 'hypervisor'],
  'host-setup': ['kernel', 'hypervisor'],
  'config.ts': ['kernel'],
  features: ['kernel', 'schema', 'http', 'workflow', 'hypervisor', 'config.ts'],
  'database.ts': ['kernel', 'workflow', 'features', 'config.ts'],
  'compose.ts': ['kernel', 'http', 'workflow', 'hypervisor', 'host-setup', 'images', 'invariants', 'features', 'config.ts', 'database.ts'],
  commands: ['kernel', 'features', 'invariants', 'hypervisor', 'images', 'host-setup', 'config.ts', 'database.ts', 'compose.ts'],
  'main.ts': ['commands'],
}

/** Features may import leftwards only. */
const FEATURES =
  'catalog accounts actions events wallet payments invoices audit-log users sessions api-keys hosts ssh-keys networks firewalls vms consoles metrics snapshots backups bandwidth billing webhooks support notifications operator'.split(
    ' ',
  )

/** Through these another feature is reached: what it can do, and how its wire shapes look. */
const DOORS = ['service.ts', 'schema.ts']
/** Further doors, for services that would be too large as one file. */
const ADDITIONAL_ENTRY_POINTS: Record<string, string[]> = {
  catalog: ['seed.ts'],
  wallet: ['date-range.ts', 'adjustments.ts'],
  'audit-log': ['operator.ts'],
  hosts: ['public-addresses.ts', 'capacity.ts'],
  support: ['staff.ts'],
  networks: ['mac.ts'],
  operator: ['actions-health.ts'],
}
/** These are allowed to know every file of every feature. */
const ASSEMBLERS = ['src/features/index.ts', 'src/features/seed.ts', 'src/features/deps.ts', 'src/compose.ts']

/** The driver, and what prepares and checks hosts for it. */
const LIBVIRT_SPEAKERS = ['src/hypervisor/libvirt/', 'src/host-setup/']

const ENVIRONMENT_READERS = ['src/config.ts', 'test/harness.ts', 'test/processes.ts']

interface SpeechRule {
  where: (path: string) => boolean
  pattern: RegExp
  sentence: string
}

const product = (path: string): boolean => path.startsWith('src/') && !isTest(path)
const inParts = (path: string, ...parts: string[]): boolean => product(path) && parts.includes(partOf(path))

/** What a file must not say, whatever it imports. */
const SPEECH: SpeechRule[] = [
  {
    where: (path) => !ENVIRONMENT_READERS.includes(path),
    pattern: /\bprocess\.env\b/,
    sentence: 'reads the environment: only config.ts may',
  },
  {
    where: (path) => product(path) && path !== 'src/kernel/clock.ts',
    pattern: /\bDate\.now\(|\bnew Date\(\s*\)|\bperformance\.now\(|\bprocess\.hrtime\b/,
    sentence: 'reads the time: ask a Clock or a stopwatch of kernel/clock.ts',
  },
  {
    where: (path) => inParts(path, 'kernel', 'http', 'workflow'),
    pattern: /vm/i,
    sentence: 'speaks of the business: kernel, http and workflow know nothing of it',
  },
  {
    where: (path) => inParts(path, 'features'),
    pattern: /^(export )?(const|let) \w+(: [^=\n]+(=>[^=\n]+)?)? = \[\]/m,
    sentence: 'fills an array of its module: a hook is a member of Deps, listed in features/index.ts',
  },
  {
    where: (path) => path !== 'src/kernel/database/db.test.ts', // which shows what becomes of one
    pattern: /\b(select|returning)\s+\*|\b[a-z]+\.\*\s*(,|from\b|`)/,
    sentence: 'selects a star: name the columns, or all of them with allColumns of schema/columns.ts',
  },
  {
    where: (path) => path.endsWith('routes.ts'),
    pattern: /\bsql`|\btry\s*\{|database\/db\.ts'/,
    sentence: 'holds SQL or a try: a route is a path, a scope, a schema and one call',
  },
  {
    where: (path) => path.endsWith('/service.ts'),
    pattern: /from 'fastify'/,
    sentence: 'knows the HTTP framework: a service is a function of a transaction',
  },
  { where: (path) => path.endsWith('/view.ts'), pattern: /\bsql`/, sentence: 'queries: a view turns a row into a wire shape' },
]

export function violations(files: Files): string[] {
  return [...files].flatMap(([path, source]) => [
    ...SPEECH.filter(({ where, pattern }) => where(path) && pattern.test(source)).map(({ sentence }) => `${path} ${sentence}`),
    ...(product(path) ? importsOf(source).flatMap((each) => objection(path, each) ?? []) : []),
  ])
}

interface Import {
  from: string
  isType: boolean
}

export function importsOf(source: string): Import[] {
  const statements = [...source.matchAll(/^(import|export)\s+(type\b)?[^'"]*?\bfrom\s+'([^']+)'/gm)]
  const bare = [...source.matchAll(/^import\s+'([^']+)'|\bimport\(\s*'([^']+)'|\bnew URL\('(\.[^']+\.ts)'/gm)]
  return [
    ...statements.map((match) => ({ from: match[3]!, isType: match[2] !== undefined })),
    ...bare.map((match) => ({ from: (match[1] ?? match[2] ?? match[3])!, isType: false })),
  ]
}

function objection(path: string, { from, isType }: Import): string | undefined {
  if (from.startsWith('@berth/libvirt')) {
    return LIBVIRT_SPEAKERS.some((folder) => path.startsWith(folder)) ? undefined : `${path} imports ${from}: only hypervisor/libvirt may`
  }
  if (!from.startsWith('.')) return undefined
  const target = posix.join(posix.dirname(path), from)
  if (from.endsWith('.json')) return undefined
  if (!target.startsWith('src/') || isTest(target)) return `${path} imports ${target}: the product knows nothing of its tests`
  return partObjection(path, target, isType) ?? featureObjection(path, target) ?? shapeObjection(path, target)
}

function partObjection(path: string, target: string, isType: boolean): string | undefined {
  const [part, other] = [partOf(path), partOf(target)]
  if (part === other) return undefined
  if (!PARTS[part]?.includes(other)) return `${path} imports ${target}: ${part} may not import ${other}`
  if (part === 'features' && other === 'config.ts' && !isType)
    return `${path} imports ${target}: settings are handed to features, as a type`
  return undefined
}

function featureObjection(path: string, target: string): string | undefined {
  const [own, other] = [featureOf(path), featureOf(target)]
  if (other === undefined || own === other || ASSEMBLERS.includes(path)) return undefined
  if (!FEATURES.includes(other)) return `${target} is in no known feature: give ${other} its place in the order`
  if (own !== undefined && FEATURES.indexOf(own) < FEATURES.indexOf(other))
    return `${path} imports ${target}: ${other} is not left of ${own}`
  const file = posix.basename(target)
  if ([...DOORS, ...(ADDITIONAL_ENTRY_POINTS[other] ?? [])].includes(file)) return undefined
  return `${path} imports ${target}: ${other} is reached through its service.ts`
}

function shapeObjection(path: string, target: string): string | undefined {
  const isShape = /^src\/features\/[^/]+\/schema\.ts$/
  if (!isShape.test(path) || target === 'src/http/api/schema.ts' || isShape.test(target)) return undefined
  return `${path} imports ${target}: a schema imports nothing but http/api/schema.ts and other schemas`
}

const isTest = (path: string): boolean => /(\.test|\.prove|-cases|\/testing)\.ts$/.test(path)
const partOf = (path: string): string => path.split('/')[1]!
const featureOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1]
