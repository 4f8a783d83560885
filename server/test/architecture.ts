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
  'backup-target': ['kernel', 'hypervisor'],
  invariants: ['kernel', 'hypervisor'],
  images: ['kernel', 'hypervisor'],
  'host-setup': ['kernel', 'hypervisor'],
  'config.ts': ['kernel'],
  features: ['kernel', 'schema', 'http', 'workflow', 'hypervisor', 'backup-target', 'images', 'config.ts'],
  'database.ts': ['kernel', 'workflow', 'features', 'config.ts'],
  'compose.ts': ['kernel', 'http', 'workflow', 'hypervisor', 'host-setup', 'images', 'invariants', 'features', 'config.ts', 'database.ts'],
  commands: [
    'kernel',
    'features',
    'invariants',
    'hypervisor',
    'backup-target',
    'images',
    'host-setup',
    'config.ts',
    'database.ts',
    'compose.ts',
  ],
  'main.ts': ['commands'],
}

/** Within these folders files import only what is listed before them. Names on one line of a list are of one rank and may import each other; `*` stands for
 *  the files of the folder itself that are not named. */
const ORDERS: Record<string, string[]> = {
  'src/kernel': ['*', 'net', 'database', 'postgres', 'dump'],
  'src/http': ['api', 'server', 'docs'],
  'src/hypervisor/libvirt': ['core', 'xml', 'host', 'domain', 'storage', 'network', 'copies', 'machine', 'monitoring', '*'],
  'src/features/vms': [
    'shapes.schema.ts',
    'events.schema.ts',
    'schema.ts',
    'model',
    'billing',
    'steps.ts',
    'move',
    'recovery',
    'actions',
    'operator',
    'reconcilers',
    '*',
  ],
  'src/commands': [
    'output.ts errors.ts load-config.ts database.ts dashboard-url.ts port-owner.ts berthd-as.ts',
    'admin-command.ts',
    'admin',
    'process doctor quickstart setup',
    '*',
  ],
}

/** A feature may import only features listed before it. */
const FEATURES =
  'labels branding catalog budgets accounts address-history actions events wallet payments invoices audit-log users members identities sessions tokens ports reverse-names storage hosts placement-groups backup-targets control-plane-backups ssh-keys networks firewalls vms fleet maintenances announcements consoles metrics snapshots bulk-actions backups renewals images bandwidth addresses volumes volume-snapshots recovery billing alerts webhooks support notifications projects search operator'.split(
    ' ',
  )

/** Through these another feature is reached: what it can do, and how its wire shapes look. */
const ENTRY_POINTS = ['service.ts', 'schema.ts']
/** Further ones, for services that would be too large as one file. */
const ADDITIONAL_ENTRY_POINTS: Record<string, string[]> = {
  branding: ['mails.schema.ts'],
  catalog: ['seed.ts'],
  wallet: ['date-range.ts', 'adjustments.ts'],
  'audit-log': ['operator.ts'],
  hosts: ['public-addresses.ts', 'ipv6-ranges.ts', 'capacity.ts'],
  support: ['staff.ts'],
  operator: ['actions-health.ts', 'work.schema.ts'],
}
/** These are allowed to know every file of every feature. */
const ASSEMBLERS = ['src/features/index.ts', 'src/features/seed.ts', 'src/features/deps.ts', 'src/compose.ts']

/** The driver, and what prepares and checks hosts for it. */
const LIBVIRT_USERS = ['src/hypervisor/libvirt/', 'src/host-setup/']

const ENVIRONMENT_READERS = ['src/config.ts', 'test/harness.ts', 'test/processes.ts']

interface TextRule {
  where: (path: string) => boolean
  pattern: RegExp
  sentence: string
}

const product = (path: string): boolean => path.startsWith('src/') && !isTest(path)
const inParts = (path: string, ...parts: string[]): boolean => product(path) && parts.includes(partOf(path))

/** What a file must not say, whatever it imports. */
const TEXT_RULES: TextRule[] = [
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
    ...TEXT_RULES.filter(({ where, pattern }) => where(path) && pattern.test(source)).map(({ sentence }) => `${path} ${sentence}`),
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
    return LIBVIRT_USERS.some((folder) => path.startsWith(folder)) ? undefined : `${path} imports ${from}: only hypervisor/libvirt may`
  }
  if (!from.startsWith('.')) return undefined
  const target = posix.join(posix.dirname(path), from)
  if (from.endsWith('.json')) return undefined
  if (!target.startsWith('src/') || isTest(target)) return `${path} imports ${target}: the product knows nothing of its tests`
  return (
    partObjection(path, target, isType) ?? featureObjection(path, target) ?? orderObjection(path, target) ?? shapeObjection(path, target)
  )
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
  if ([...ENTRY_POINTS, ...(ADDITIONAL_ENTRY_POINTS[other] ?? [])].includes(file)) return undefined
  return `${path} imports ${target}: ${other} is reached through its service.ts`
}

function orderObjection(path: string, target: string): string | undefined {
  const folder = Object.keys(ORDERS).find((each) => path.startsWith(`${each}/`) && target.startsWith(`${each}/`))
  if (folder === undefined) return undefined
  const rank = (file: string): number => {
    const name = file.slice(folder.length + 1).split('/')[0]!
    const named = ORDERS[folder]!.findIndex((names) => names.split(' ').includes(name))
    return named >= 0 ? named : ORDERS[folder]!.indexOf('*')
  }
  if (rank(target) <= rank(path)) return undefined
  return `${path} imports ${target}: in ${folder} the order is ${ORDERS[folder]!.join(' → ')}`
}

function shapeObjection(path: string, target: string): string | undefined {
  const isShape = /^src\/features\/[^/]+\/([a-z]+\.)?schema\.ts$/
  if (!isShape.test(path) || target === 'src/http/api/schema.ts' || isShape.test(target)) return undefined
  return `${path} imports ${target}: a schema imports nothing but http/api/schema.ts and other schemas`
}

const isTest = (path: string): boolean => /(\.test|\.prove|-cases|\/testing)\.ts$/.test(path)
const partOf = (path: string): string => path.split('/')[1]!
const featureOf = (path: string): string | undefined => /^src\/features\/([^/]+)\//.exec(path)?.[1]

/** Files of any package by their path. Every way round that imports lead, types included: one shortest circle of each knot. */
export function circles(files: Files): string[] {
  const imports = new Map([...files].map(([path, source]) => [path, targetsOf(files, path, source)]))
  const found = [...imports.keys()].flatMap((path) => shortestWayBack(imports, path) ?? [])
  const unique = Map.groupBy(found, (circle) => circle.toSorted().join())
  return [...unique.values()].map(([circle]) => [...circle!, circle![0]].join(' → '))
}

const targetsOf = (files: Files, path: string, source: string): string[] =>
  importsOf(source)
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from }) => posix.join(posix.dirname(path), from))
    .filter((target) => files.has(target))

function shortestWayBack(imports: Map<string, string[]>, start: string): [string[]] | undefined {
  const cameFrom = new Map<string, string>()
  const queue = [start]
  for (const path of queue) {
    for (const target of imports.get(path)!) {
      if (target === start) return [wayTo(cameFrom, start, path)]
      if (cameFrom.has(target)) continue
      cameFrom.set(target, path)
      queue.push(target)
    }
  }
  return undefined
}

function wayTo(cameFrom: Map<string, string>, start: string, end: string): string[] {
  const way = [end]
  while (way[0] !== start) way.unshift(cameFrom.get(way[0]!)!)
  return way
}

/** The numbered list of files under a heading of ARCHITECTURE.md: `7. \`path\`: what happens there. 6 imports it.` */
const WALK_LINE = /^(\d+)\. `([^`]+)`: .*\. ((?:\d+|The server) .*it)\.$/

/** Who leads to a file of the walk, in words that a source can be held to. Numbers are of earlier files. */
const LEADS: [RegExp, (is: Evidence) => boolean][] = [
  [/^The server calls it$/, ({ number }) => number === 1],
  [/^(\d+) imports it$/, ({ imports, match }) => imports(Number(match[1]))],
  // Inverted: the file hands a function to an earlier one, which calls it for a request.
  [
    /^(\d+) calls the handlers passed to `(\w+)` by it$/,
    ({ of, source, match }) => declares(of(Number(match[1])), match[2]!) && source.includes(`.${match[2]}(`),
  ],
  [/^(\d+) calls `(\w+)` of it$/, ({ of, source, match }) => of(Number(match[1])).includes(`.${match[2]}(`) && declares(source, match[2]!)],
  // A driver's method, by the interface.
  [
    /^(\d+) calls `(\w+)` of (\d+), implemented by it$/,
    ({ of, source, match }) =>
      of(Number(match[1])).includes(`.${match[2]}(`) && declares(of(Number(match[3])), match[2]!) && declares(source, match[2]!),
  ],
  // A workflow, by its name in the journal.
  [
    /^(\d+) runs `([\w.]+)` of (\d+), which imports it$/,
    ({ of, imports, match }) =>
      of(Number(match[1])).includes('workflows.get(run.name)') &&
      new RegExp(`workflow<\\w+>\\('${match[2]}'`).test(of(Number(match[3]))) &&
      imports(Number(match[3])),
  ],
]

interface Evidence {
  number: number
  match: RegExpExecArray
  source: string
  of: (number: number) => string
  /** Whether that earlier file imports this one. */
  imports: (number: number) => boolean
}

const declares = (source: string, name: string): boolean => new RegExp(`^\\s*(async )?${name}(<[^>]*>)?(\\(|:| =)`, 'm').test(source)

/** What is not true of the walk that the lines describe. */
export function walkFaults(lines: string[], files: Files): string[] {
  const walk = lines.flatMap((line) => {
    const match = WALK_LINE.exec(line)
    return match ? [{ path: match[2]!, lead: match[3]! }] : []
  })
  const sourceOf = (number: number): string => files.get(walk[number - 1]?.path ?? '') ?? ''
  const faults = walk.flatMap(({ path, lead }, index) => {
    const source = files.get(path)
    if (source === undefined) return [`${index + 1}. ${path} does not exist`]
    const isTrue = LEADS.some(([words, holds]) => {
      const match = words.exec(lead)
      if (!match || [match[1], match[3]].some((number) => Number(number) > index)) return false
      const imports = (number: number): boolean => targetsOf(files, walk[number - 1]!.path, sourceOf(number)).includes(path)
      return holds({ number: index + 1, match, source, of: sourceOf, imports })
    })
    return isTrue ? [] : [`${index + 1}. ${path}: not true that ${lead}`]
  })
  return walk.length === lines.length ? faults : [`only ${walk.length} of ${lines.length} lines name a file and who leads to it`, ...faults]
}
