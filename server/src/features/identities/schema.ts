import { object, text, Timestamp, Type, type Static } from '../../http/api/schema.ts'

/** What newcomers see of it. */
export const OfferedProvider = object({
  name: Type.String({ description: 'In URLs' }),
  title: Type.String({ description: 'To show' }),
})
export type OfferedProvider = Static<typeof OfferedProvider>

const provider = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,31}$', rule: 'must be the name of an identity provider' })

export const BeginAtProvider = object({ provider })
export const AtProvider = object(
  { url: Type.String({ description: 'Where the browser goes next, within 10 minutes; it comes back to /sign-in/with/{provider}' }) },
  { title: 'AtProvider' },
)
export type AtProvider = Static<typeof AtProvider>

export const ReturnFromProvider = object({
  provider,
  response: Type.String({ minLength: 1, maxLength: 8192, description: 'The query that the browser came back with' }),
})
export type ReturnFromProvider = Static<typeof ReturnFromProvider>

export const SignInByProvider = object({
  ...ReturnFromProvider.properties,
  invitation: Type.Optional({ ...text(1, 100), description: 'The secret of its link: a person who is new here accepts it' }),
})
export type SignInByProvider = Static<typeof SignInByProvider>

export const Identity = object(
  {
    id: Type.String(),
    provider: OfferedProvider,
    label: Type.String({ description: 'How the provider calls the person' }),
    createdAt: Timestamp,
    lastUsedAt: Timestamp,
  },
  { title: 'Identity' },
)
export type Identity = Static<typeof Identity>

export const UnlinkedIdentity = object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'UnlinkedIdentity' })

export const Identities = object(
  {
    identities: Type.Array(Identity),
    hasPassword: Type.Boolean({ description: 'Otherwise the last identity cannot be unlinked' }),
    canLink: Type.Array(OfferedProvider, { description: 'Providers of which no identity is linked' }),
  },
  { title: 'Identities' },
)
export type Identities = Static<typeof Identities>
