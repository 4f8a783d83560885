import { Id, nameQuery, nameText, nullable, object, QUAD, sortQuery, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { labelQuery, Labels, ShownLabels } from '../labels/schema.ts'

const Cidr = Type.String({
  pattern: `^${QUAD}/([1-9]|[12]\\d|3[0-2])$`,
  rule: 'must be an IPv4 range such as 10.0.0.0/24',
  description: 'A private range from /8 to /30; host bits are masked away',
})
const Destination = Type.String({
  pattern: `^${QUAD}/([1-9]|[12]\\d|3[0-2])$`,
  rule: 'must be an IPv4 range from /1 to /32 such as 192.168.0.0/16: a default route is not possible',
  description: 'A range outside of the network; host bits are masked away',
})
const NextHop = Type.String({
  pattern: `^${QUAD}$`,
  rule: 'must be an IPv4 address such as 10.0.0.5',
  description: 'An address in the network: of the VM that takes on what is sent to the range',
})
const Gateway = Type.String({ pattern: `^${QUAD}$`, rule: 'must be an IPv4 address such as 10.0.0.1, or null' })

export const Network = object(
  {
    id: Type.String(),
    name: Type.String(),
    labels: ShownLabels,
    cidr: Type.String(),
    gateway: nullable(Type.String({ description: 'Null only with SNAT and DHCP both off' })),
    enableSnat: Type.Boolean(),
    enableDhcp: Type.Boolean(),
    region: object({ name: Type.String(), country: Type.String(), flag: Type.String() }),
    attachmentCount: Type.Integer({ description: 'How many VMs are attached' }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Network' },
)
export type Network = Static<typeof Network>

export const CreateNetwork = object(
  {
    name: nameText(1, 100),
    nodeId: Type.String({ ...Id, description: "A region's id, or the id of one of its hosts: the network spans all hosts of the region" }),
    cidr: Cidr,
    gateway: Type.Optional(nullable(Gateway)),
    enableSnat: Type.Optional(Type.Boolean({ default: true, description: 'VMs reach the internet through the gateway' })),
    enableDhcp: Type.Optional(Type.Boolean({ default: true, description: 'VMs are told their addresses by DHCP' })),
    labels: Type.Optional(Labels),
  },
  { title: 'CreateNetwork' },
)
export type CreateNetwork = Static<typeof CreateNetwork>

export const RenameNetwork = object(
  { name: Type.Optional(nameText(1, 100)), labels: Type.Optional(Labels) },
  { title: 'RenameNetwork', description: 'At least one of them' },
)
export type RenameNetwork = Static<typeof RenameNetwork>

export const NetworkAttachment = object(
  { vmId: Type.String(), ipAddress: Type.String({ description: "The VM's own address in the network" }) },
  { title: 'NetworkAttachment' },
)
export type NetworkAttachment = Static<typeof NetworkAttachment>

export const NetworkQuery = {
  regionId: Type.Optional(Type.String({ ...Id, description: 'Only those of this region' })),
  ...nameQuery,
  ...labelQuery,
  ...sortQuery(['name', 'cidr', 'region', 'attachmentCount'], '; region by its name'),
}
export type NetworkQuery = Static<ReturnType<typeof Type.Object<typeof NetworkQuery>>>

export const NetworkRoute = object(
  { id: Type.String(), destination: Type.String(), nextHop: Type.String(), createdAt: Timestamp },
  { title: 'NetworkRoute' },
)
export type NetworkRoute = Static<typeof NetworkRoute>

export const CreateRoute = object({ destination: Destination, nextHop: NextHop }, { title: 'CreateNetworkRoute' })
export type CreateRoute = Static<typeof CreateRoute>

export const NetworkPeering = object(
  {
    id: Type.String({ description: 'The same for both networks' }),
    networkId: Type.String({ description: 'Of the other network' }),
    name: Type.String({ description: 'Of the other network' }),
    cidr: Type.String({ description: 'Of the other network' }),
    createdAt: Timestamp,
  },
  { title: 'NetworkPeering' },
)
export type NetworkPeering = Static<typeof NetworkPeering>

export const CreatePeering = object(
  { networkId: Type.String({ ...Id, description: 'Another network of the account in the same region' }) },
  { title: 'CreateNetworkPeering' },
)

export const DeletedNetwork = object({ id: Type.String() }, { title: 'DeletedNetwork' })
