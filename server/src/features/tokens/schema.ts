import { nullable, object, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { BudgetInput, BudgetLimits, BudgetView } from '../budgets/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

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
  allowedIps: Type.Array(Type.String(), { description: 'Empty = from everywhere' }),
  requestsPerMinute: Type.Integer({ description: 'Its rate limit' }),
  parentId: nullable(
    Type.String({
      description: 'The token that it was made with, within which it stays and with which it is revoked; null where none was',
    }),
  ),
  createdAt: Timestamp,
}

export const Token = object(
  {
    ...fields,
    lastUsedAt: nullable(Timestamp),
    lastUsedIp: nullable(Type.String()),
    budget: nullable(BudgetView),
  },
  { title: 'Token' },
)
export type Token = Static<typeof Token>

export const NewToken = object(
  { ...Token.properties, secret: Type.String({ description: 'The token itself: shown this once' }) },
  { title: 'NewToken' },
)
export type NewToken = Static<typeof NewToken>

const AllowedIps = Type.Array(text(2, 50), {
  maxItems: 50,
  description: 'Addresses and ranges such as 10.0.0.0/8 from which it may be used; empty = from everywhere',
})
const Scopes = Type.Array(text(1, 64), {
  minItems: 1,
  maxItems: 100,
  description: 'Shorthands such as *, vms:* and *:read are expanded. A token can give only what it has itself',
})

export const CreateToken = object({
  name: Name,
  scopes: Scopes,
  expiresAt: Type.Optional(nullable(Timestamp)),
  allowedIps: Type.Optional(AllowedIps),
  budget: Type.Optional(nullable(BudgetInput)),
})
export type CreateToken = Static<typeof CreateToken>

export const UpdateToken = object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    expiresAt: Type.Optional(nullable(Timestamp)),
    allowedIps: Type.Optional(AllowedIps),
    budget: Type.Optional(nullable(BudgetInput)),
    isActive: Type.Optional(Type.Literal(false, { description: 'Revokes it for good; it stays listed' })),
  },
  { description: 'At least one of them. What is taken from a token is taken from all that were made with it' },
)
export type UpdateToken = Static<typeof UpdateToken>

export const RevokedToken = object(
  { id: Type.String(), alsoRevoked: Type.Array(Type.String(), { description: 'The ids of what was made with it, and is gone with it' }) },
  { title: 'RevokedToken' },
)
export type RevokedToken = Static<typeof RevokedToken>

/** Not when it was last used: that is written now and then, and in no order with this. */
const EventToken = object({ ...fields, budget: nullable(BudgetLimits) }, { title: 'EventToken' })
export type EventToken = Static<typeof EventToken>
const TokenEventData = object({ token: EventToken }, { title: 'TokenEventData' })

export const tokenEvents = {
  'token.created': defineEvent(TokenEventData, 'An API token was made', { by: ['createToken'] }),
  'token.updated': defineEvent(TokenEventData, 'An API token was renamed, or may do more or less than before', { by: ['updateToken'] }),
  'token.revoked': defineEvent(TokenEventData, 'An API token was revoked or deleted, or one that it was made with', {
    by: ['revokeToken'],
    sometimesBy: ['updateToken'],
  }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof tokenEvents> {}
}
