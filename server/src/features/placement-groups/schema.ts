import { nameText, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'

export const PLACEMENT_POLICIES = ['SPREAD', 'STRICT_SPREAD', 'TOGETHER'] as const

const Policy = Type.Enum([...PLACEMENT_POLICIES], {
  description:
    'SPREAD: on different hosts as far as there is room. STRICT_SPREAD: never two on one host. TOGETHER: on the same host as far as there is room',
})

export const PlacementGroup = object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    policy: oneOf([...PLACEMENT_POLICIES]),
    vms: Type.Array(object({ id: Type.String(), name: Type.String() })),
    hostCount: Type.Integer({ description: 'On how many hosts its VMs are' }),
    createdAt: Timestamp,
  },
  { title: 'PlacementGroup' },
)
export type PlacementGroup = Static<typeof PlacementGroup>

export const CreatePlacementGroup = object(
  { name: nameText(1, 100), policy: Policy, labels: Type.Optional(Labels) },
  { title: 'CreatePlacementGroup' },
)
export type CreatePlacementGroup = Static<typeof CreatePlacementGroup>

export const RenamePlacementGroup = object(
  { name: Type.Optional(nameText(1, 100)), labels: Type.Optional(Labels) },
  { description: 'At least one of them' },
)
export type RenamePlacementGroup = Static<typeof RenamePlacementGroup>

export const PlacementGroupQuery = labelQuery

export const DeletedPlacementGroup = object({ id: Type.String() })
