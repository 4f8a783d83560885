// What the members of an account may do: each role is a set of scopes, so the same check serves tokens and people.
import type { Role } from './schema.ts'
import { SCOPES, type VERBS } from './scopes.ts'

type Resource = keyof typeof VERBS
type NamedRole = Exclude<Role, 'custom'>

const [ALL, READ, NONE] = ['*', 'read', ''] as const
type Rights = typeof ALL | typeof READ | typeof NONE

/** A new resource does not compile before it is decided here for each role. */
const RIGHTS: Record<Resource, Record<NamedRole, Rights>> = {
  account: { owner: ALL, admin: READ, operator: READ, billing: READ, 'read-only': READ },
  addresses: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  alerts: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  backups: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  bandwidth: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  catalog: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  events: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  firewalls: { owner: ALL, admin: ALL, operator: ALL, billing: NONE, 'read-only': READ },
  images: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  members: { owner: ALL, admin: ALL, operator: READ, billing: READ, 'read-only': READ },
  networks: { owner: ALL, admin: ALL, operator: ALL, billing: NONE, 'read-only': READ },
  placement_groups: { owner: ALL, admin: ALL, operator: ALL, billing: NONE, 'read-only': READ },
  projects: { owner: ALL, admin: ALL, operator: READ, billing: READ, 'read-only': READ },
  snapshots: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  ssh_keys: { owner: ALL, admin: ALL, operator: ALL, billing: NONE, 'read-only': READ },
  tickets: { owner: ALL, admin: ALL, operator: ALL, billing: ALL, 'read-only': READ },
  tokens: { owner: ALL, admin: ALL, operator: READ, billing: NONE, 'read-only': READ },
  vms: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  volumes: { owner: ALL, admin: ALL, operator: ALL, billing: READ, 'read-only': READ },
  wallet: { owner: ALL, admin: ALL, operator: READ, billing: ALL, 'read-only': READ },
  webhooks: { owner: ALL, admin: ALL, operator: ALL, billing: NONE, 'read-only': READ },
}

const allows = (role: NamedRole, scope: string): boolean => {
  const [resource, verb] = scope.split(':') as [Resource, string]
  const rights = RIGHTS[resource][role]
  return rights === ALL || rights === verb
}

const named = (role: NamedRole): ReadonlySet<string> => new Set(SCOPES.filter((scope) => allows(role, scope)))

const OF_ROLES: Record<NamedRole, ReadonlySet<string>> = {
  owner: named('owner'),
  admin: named('admin'),
  operator: named('operator'),
  billing: named('billing'),
  'read-only': named('read-only'),
}

/** `scopes` are those of a custom role. */
export const scopesOf = ({ role, scopes }: { role: Role; scopes: string[] }): ReadonlySet<string> =>
  role === 'custom' ? new Set(scopes) : OF_ROLES[role]

export const isWithin = (scopes: Iterable<string>, limit: ReadonlySet<string>): boolean => [...scopes].every((scope) => limit.has(scope))
