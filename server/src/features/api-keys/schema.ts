import { nullable, object, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'

const Name = nameText(1, 100)

export const Scope = object({ scope: Type.String(), resource: Type.String(), verb: Type.String() }, { title: 'Scope' })

const fields = {
  id: Type.String(),
  name: Type.String(),
  prefix: Type.String({ description: 'The first characters of the secret, to recognise it by' }),
  scopes: Type.Array(Type.String()),
  isActive: Type.Boolean({ description: 'Neither revoked nor expired' }),
  expiresAt: nullable(Timestamp),
  revokedAt: nullable(Timestamp),
  lastUsedAt: nullable(Timestamp),
  lastUsedFrom: nullable(Type.String({ description: 'Address' })),
  allowedIps: Type.Array(Type.String(), { description: 'Empty = from everywhere' }),
  createdAt: Timestamp,
}

export const ApiKey = object(fields, { title: 'ApiKey' })
export type ApiKey = Static<typeof ApiKey>

export const NewApiKey = object({ ...fields, secret: Type.String({ description: 'Shown this once' }) }, { title: 'NewApiKey' })
export type NewApiKey = Static<typeof NewApiKey>

const AllowedIps = Type.Array(text(2, 50), {
  maxItems: 50,
  description: 'Addresses and ranges such as 10.0.0.0/8 from which it may be used; empty = from everywhere',
})

export const CreateApiKey = object({
  name: Name,
  scopes: Type.Array(text(1, 64), { minItems: 1, maxItems: 100, description: 'Shorthands such as *, vms:* and *:read are expanded' }),
  expiresAt: Type.Optional(nullable(Timestamp)),
  allowedIps: Type.Optional(AllowedIps),
})
export type CreateApiKey = Static<typeof CreateApiKey>

/** An active key can be revoked; revocation is permanent. */
export const ChangeApiKey = object({
  name: Type.Optional(Name),
  isActive: Type.Optional(Type.Literal(false)),
  allowedIps: Type.Optional(AllowedIps),
})
export type ChangeApiKey = Static<typeof ChangeApiKey>

export const ApiKeyDeleted = object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'ApiKeyDeleted' })
