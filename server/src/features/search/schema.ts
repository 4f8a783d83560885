import { nullable, nameText, object, oneOf, Type, type Static } from '../../http/api/schema.ts'
import { ShownLabels } from '../labels/schema.ts'

export const SEARCH_KINDS = [
  'vm',
  'address',
  'network',
  'firewall',
  'volume',
  'volume_snapshot',
  'snapshot',
  'backup',
  'image',
  'ssh_key',
  'placement_group',
  'alert',
  'webhook',
  'project',
  'token',
  'action',
] as const

export const SearchQuery = {
  q: { ...nameText(1, 200), description: 'Part of a name, id, address, reverse name or label, in any case; all of it is literal text' },
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 20 }),
}
export type SearchQuery = { q: string; limit: number }

export const SearchResult = object(
  {
    kind: oneOf([...SEARCH_KINDS]),
    id: Type.String(),
    name: Type.String(),
    detail: nullable(
      Type.String({ description: 'What was found where that is not the name, such as an address; or what else tells it from others' }),
    ),
    vmId: Type.Optional(Type.String({ description: 'The VM that it belongs to' })),
    labels: Type.Optional(ShownLabels),
  },
  { title: 'SearchResult' },
)
export type SearchResult = Static<typeof SearchResult>
