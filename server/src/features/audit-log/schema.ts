import { nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'

const DATE = 'ISO 8601 date or date-time, UTC unless it says otherwise'

export const AuditFilter = {
  dateFrom: Type.Optional(Type.String({ description: `${DATE}; a date means its first moment` })),
  dateTo: Type.Optional(Type.String({ description: `${DATE}; a date means its last moment` })),
  action: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Only this action, for example createVm. Among the newest 100,000 lines of the time asked for',
    }),
  ),
  tokenId: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only what was done with this token. Among the newest 100,000 lines of the time asked for' }),
  ),
  personId: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'Only what this person did, signed in or by a token of theirs. Among the newest 100,000 lines of the time asked for',
    }),
  ),
}
export type AuditFilter = Static<ReturnType<typeof Type.Object<typeof AuditFilter>>>

const Actor = object({
  type: oneOf(['token', 'person', 'operator', 'system']),
  id: nullable(Type.String({ description: 'Of the token or the person; null for others' })),
  name: Type.String({ description: 'Of the token, at that time, or the e-mail address of the person' }),
  via: nullable(oneOf(['session', 'token'])),
  person: nullable(
    object({
      id: Type.String({ description: 'As in `GET /members`' }),
      name: Type.String({ description: 'The e-mail address at that time' }),
    }),
  ),
})

const FieldChange = object(
  {
    field: Type.String({ description: 'As in the request' }),
    from: nullable(Type.String({ description: 'What it was, in at most 400 characters; of lists and maps, the entries that are gone' })),
    to: nullable(Type.String({ description: 'What it is since; of lists and maps, the entries that are new' })),
  },
  { title: 'FieldChange' },
)

export const AuditEntry = object(
  {
    id: Type.String(),
    action: Type.String({
      description:
        'The operationId of the call, followed by the name of an identity provider where one was asked, the words of an operator\'s command, or "refusals" for those that were only counted',
    }),
    actor: Actor,
    ip: nullable(Type.String({ description: 'Where the call came from' })),
    method: nullable(Type.String()),
    route: nullable(Type.String({ description: 'For example /vms/{id}/restart' })),
    resourceId: nullable(Type.String({ description: 'What it was done to, or what was made' })),
    resourceIds: Type.Array(Type.String(), { description: 'All ids of the path in its order, and then of what was made' }),
    resourceName: nullable(
      Type.String({ description: 'What it was called then. Only for what the caller may read; null where the call did not tell' }),
    ),
    changes: nullable(
      Type.Array(FieldChange, {
        description: 'What an update changed; null where nothing is kept of it, and for what the caller may not read',
      }),
    ),
    result: oneOf(['succeeded', 'refused']),
    status: nullable(Type.Integer({ description: 'The HTTP status; null where there was no call of the API' })),
    errorCode: nullable(Type.String({ description: 'As in the header X-Error-Code' })),
    requestId: nullable(Type.String({ description: 'As in the header X-Request-Id' })),
    count: Type.Integer({ description: 'More than 1 where changes or refusals came so often that they were only counted' }),
    createdAt: Timestamp,
  },
  { title: 'AuditEntry' },
)
export type AuditEntry = Static<typeof AuditEntry>
