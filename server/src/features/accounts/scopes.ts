// Scopes are `resource:verb`. Shorthands are expanded when a token is created, so a release that adds scopes never widens an existing
// token.
import { invalid } from '../../kernel/errors.ts'

export const VERBS = {
  account: ['read', 'update'],
  addresses: ['read', 'create', 'update', 'delete'],
  backups: ['create', 'read', 'update', 'restore', 'delete'],
  bandwidth: ['read', 'create'],
  catalog: ['read'],
  events: ['read'],
  firewalls: ['read', 'create', 'update', 'delete'],
  alerts: ['read', 'create', 'update', 'delete'],
  images: ['read', 'create', 'update', 'delete'],
  members: ['read', 'create', 'update', 'delete'],
  networks: ['read', 'create', 'update', 'delete'],
  projects: ['read', 'create', 'update', 'delete'],
  placement_groups: ['read', 'create', 'update', 'delete'],
  snapshots: ['create', 'read', 'update', 'restore', 'delete'],
  ssh_keys: ['read', 'create', 'update', 'delete'],
  tickets: ['read', 'create'],
  tokens: ['read', 'create', 'update', 'delete'],
  vms: ['create', 'read', 'update', 'delete', 'power', 'console'],
  volumes: ['read', 'create', 'update', 'delete'],
  wallet: ['read', 'deposit'],
  webhooks: ['create', 'read', 'update', 'delete'],
}

export const SCOPES: string[] = Object.entries(VERBS).flatMap(([resource, verbs]) => verbs.map((verb) => `${resource}:${verb}`))

export function expandScopes(given: string[]): string[] {
  const expanded = new Set(given.flatMap(expandOne))
  if (expanded.size === 0) throw invalid('scopes must name at least one scope, for example vms:read, vms:* or *', 'scopes')
  return SCOPES.filter((scope) => expanded.has(scope))
}

function expandOne(scope: string): string[] {
  const [resource, verb, ...rest] = scope === '*' ? ['*', '*'] : scope.split(':')
  const matches = SCOPES.filter((each) => {
    const [r, v] = each.split(':')
    return (resource === '*' || resource === r) && (verb === '*' || verb === v)
  })
  if (matches.length === 0 || rest.length > 0) throw invalid(`"${scope}" is not a scope. The scopes are: ${SCOPES.join(', ')}`, 'scopes')
  return matches
}
