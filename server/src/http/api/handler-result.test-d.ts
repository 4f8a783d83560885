// Checked by tsc and never run: a line below `@ts-expect-error` that compiles is itself an error, so a handler that is no longer bound to
// the schema of its operation fails `npm run check`.
import { Readable } from 'node:stream'
import { type Api, ApiResponse, DryRunResult } from './api.ts'
import { object, oneOf, Type } from './schema.ts'
import type { UnauthenticatedRoutes } from './unauthenticated-routes.ts'

const Disk = object({
  id: Type.String(),
  kind: oneOf(['ssd', 'hdd']),
  host: object({ name: Type.String() }),
  note: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Array(Type.String())),
})
const Cost = object({ charge: Type.String() })
const disk = { id: 'c1', kind: 'ssd', host: { name: 'a' } } as const
/** As a query returns it: with a column that is nobody's business. */
const row = { ...disk, secret: 'x' }
const hosted = { ...disk, host: { name: 'a', secret: 'x' } }
const { host: _, ...homeless } = disk
const misspelt = { ...homeless, hots: { name: 'a' } }

const spec = { operationId: 'x', summary: 'x', tag: 'x', scope: null, data: Disk }
const listSpec = { ...spec, data: Type.Array(Disk) }
const pricedSpec = { ...spec, query: { dryRun: Type.Optional(Type.Boolean()) }, dryRunData: Cost }

export function reads(api: Api): void {
  api.get('/x', spec, async () => disk)
  api.get('/x', spec, async () => ({ ...disk, note: 'x' }))
  api.get('/x', spec, async () => ({ id: 'c1', kind: 'hdd', host: { name: 'a' }, tags: ['x'] }))
  api.get('/x', spec, async () => Readable.from([]))
  // @ts-expect-error a field is missing
  api.get('/x', spec, async () => homeless)
  // @ts-expect-error a field is misspelt
  api.get('/x', spec, async () => misspelt)
  // @ts-expect-error a field has another type
  api.get('/x', spec, async () => ({ ...disk, id: 1 }))
  // @ts-expect-error a value that the schema does not list
  api.get('/x', spec, async () => ({ ...disk, kind: 'tape' }))
  // @ts-expect-error null where the schema has none
  api.get('/x', spec, async () => ({ ...disk, note: null }))
  // @ts-expect-error one field too many
  api.get('/x', spec, async () => row)
  // @ts-expect-error one field too many, further down
  api.get('/x', spec, async () => hosted)
  // @ts-expect-error nobody knows what this is
  api.get('/x', spec, async (): Promise<unknown> => disk)

  api.get('/x', listSpec, async () => [disk, { ...disk, tags: ['x'] }])
  // @ts-expect-error a field is missing in an item
  api.get('/x', listSpec, async () => [homeless])
  // @ts-expect-error one field too many in an item
  api.get('/x', listSpec, async () => [row])

  api.page('/x', spec, async () => ({ items: [disk], total: 1 }))
  // @ts-expect-error a field is missing in an item
  api.page('/x', spec, async () => ({ items: [homeless], total: 1 }))
  // @ts-expect-error one field too many in an item
  api.page('/x', spec, async () => ({ items: [row], total: 1 }))
}

export function writes(api: Api, method: 'post' | 'put' | 'patch' | 'delete'): void {
  api[method]('/x', spec, async () => disk)
  api[method]('/x', spec, async () => new ApiResponse(disk, 202, '/x/c1'))
  // @ts-expect-error a field is missing
  api[method]('/x', spec, async () => homeless)
  // @ts-expect-error a field is misspelt
  api[method]('/x', spec, async () => misspelt)
  // @ts-expect-error one field too many
  api[method]('/x', spec, async () => row)
  // @ts-expect-error a field is missing under a status of its own
  api[method]('/x', spec, async () => new ApiResponse(homeless, 202))
  // @ts-expect-error one field too many under a status of its own
  api[method]('/x', spec, async () => new ApiResponse(row, 202))
  // @ts-expect-error a dry run that the operation does not declare
  api[method]('/x', spec, async () => new DryRunResult(disk))

  api[method]('/x', pricedSpec, async (_tx, { query }) => (query.dryRun ? new DryRunResult({ charge: '1.00' }) : disk))
  // @ts-expect-error a dry run returns what the operation declares for it
  api[method]('/x', pricedSpec, async (_tx, { query }) => (query.dryRun ? new DryRunResult(disk) : disk))
  // @ts-expect-error what only a dry run returns
  api[method]('/x', pricedSpec, async () => ({ charge: '1.00' }))
}

export function unauthenticated(routes: UnauthenticatedRoutes, method: 'get' | 'post'): void {
  routes[method]('/x', spec, async () => disk)
  // @ts-expect-error a field is missing
  routes[method]('/x', spec, async () => homeless)
  // @ts-expect-error one field too many
  routes[method]('/x', spec, async () => row)
}
