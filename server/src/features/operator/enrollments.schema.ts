// Schemas of hosts that are being added.
import { nullable, object, oneOf, text, Timestamp, Type, type Static } from '../../http/api/schema.ts'

const Name = Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$', rule: 'must be 1-63 lower-case letters, digits or hyphens' })

export const EnrollHost = object({
  name: Name,
  address: Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^[0-9A-Za-z:]([0-9A-Za-z:.-]*[0-9A-Za-z:])?$',
    rule: 'must be an IP address or a host name',
    description: 'By which the control plane and other hosts reach it',
  }),
  region: text(1, 64),
  uplink: Type.Optional(
    nullable(
      Type.String({
        pattern: '^[a-z0-9][a-z0-9._-]{0,14}$',
        rule: 'must be the name of a network card, such as eth1',
        description:
          'Network card of the public network, whose addresses are those of the region; null: the host translates addresses (NAT)',
      }),
    ),
  ),
})

const enrollment = {
  id: Type.String(),
  name: Type.String(),
  address: Type.String(),
  region: Type.String({ description: 'Slug' }),
  uplink: nullable(Type.String()),
  state: Type.Enum(['WAITING', 'FETCHED', 'JOINED', 'EXPIRED', 'REVOKED'], {
    description: 'WAITING: for the host to use the token. FETCHED: it has its certificates, and is checked until it can be registered',
  }),
  endsAt: { ...Timestamp, description: 'Until then the token is valid, or the host is checked' },
  checks: Type.Array(
    object({
      status: oneOf(['ok', 'warning', 'failure']),
      message: Type.String(),
      fix: nullable(Type.String({ description: 'What to do' })),
    }),
    { description: 'Of the last time' },
  ),
  checkedAt: nullable(Timestamp),
  hostId: nullable(Type.String({ description: 'Once it has joined' })),
  createdAt: Timestamp,
}

export const HostEnrollment = object(enrollment, { title: 'HostEnrollment' })
export type HostEnrollment = Static<typeof HostEnrollment>

export const NewHostEnrollment = object(
  { ...enrollment, token: Type.String({ description: 'Shown here and nowhere else' }) },
  { title: 'NewHostEnrollment' },
)
export type NewHostEnrollment = Static<typeof NewHostEnrollment>

export const AddSimulatedHost = object({
  name: Name,
  region: text(1, 64),
  vcpu: Type.Integer({ minimum: 1, maximum: 4_096 }),
  ramMiB: Type.Integer({ minimum: 512, maximum: 67_108_864 }),
  diskGiB: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
})
