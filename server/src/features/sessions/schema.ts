import { Email, nullable, object, oneOf, text, Timestamp, Type, type Static, nameText } from '../../http/api/schema.ts'
import { LANGUAGES } from '../branding/mails.schema.ts'
import { BeginAtProvider, OfferedProvider } from '../identities/schema.ts'
import { RoleName } from '../accounts/schema.ts'
import { BudgetView } from '../budgets/schema.ts'

/** The maximum bounds the cost of hashing; there are no other rules than length. */
const NewPassword = Type.String({ minLength: 10, maxLength: 200, rule: 'must be 10-200 characters' })
const GivenPassword = Type.String({ maxLength: 200 })
const Code = Type.String({ pattern: '^\\d{6}$', rule: 'must be the 6 digits that the app shows' })
const AnyCode = Type.String({
  pattern: '^(\\d{6}|([A-Za-z0-9][ -]?){16})$',
  rule: 'must be the 6 digits that the app shows, or one of your recovery codes',
})
const Link = text(1, 100)

export const Setup = object(
  {
    hasOwner: Type.Boolean({ description: 'False until the welcome link was used' }),
    signUpOpen: Type.Boolean(),
    canSendMail: Type.Boolean({ description: 'Whether a forgotten password can be reset by mail' }),
    identityProviders: Type.Array(OfferedProvider, { description: 'By which one can sign in' }),
  },
  { title: 'Setup' },
)
export type Setup = Static<typeof Setup>

const isProject = Type.Boolean({ description: 'Whether another account pays for it' })

export const Session = object(
  {
    user: object({
      id: Type.String(),
      email: Type.String(),
      name: Type.String(),
      isOperator: Type.Boolean({ description: 'Whether the user acts as an operator in the chosen account' }),
      totpEnabled: Type.Boolean(),
    }),
    account: nullable(
      object({
        id: Type.String(),
        name: Type.String(),
        role: RoleName,
        scopes: Type.Array(Type.String()),
        requireTwoFactor: Type.Boolean(),
        budget: nullable(BudgetView),
        isProject,
      }),
    ),
    accounts: Type.Array(object({ id: Type.String(), name: Type.String(), isProject, role: RoleName })),
    visit: nullable(
      object({
        accountId: Type.String(),
        email: Type.String(),
        reason: Type.String(),
        canWrite: Type.Boolean({ description: 'Whether changes were allowed by the second step' }),
        homeId: Type.String({ description: "The operator's own account" }),
        endsAt: Timestamp,
      }),
    ),
    settings: object({
      signUpOpen: Type.Boolean(),
      depositsOpen: Type.Boolean({ description: 'Whether a payment provider is set up' }),
      currency: Type.String(),
      version: Type.String(),
    }),
    reauthenticatedAt: Type.String({
      format: 'date-time',
      description: 'When the password was last given. For 15 minutes after it, what asks for it again is allowed',
    }),
    expiresAt: Timestamp,
  },
  { title: 'Session' },
)
export type Session = Static<typeof Session>

export const SignIn = object({ email: Type.String({ maxLength: 254 }), password: GivenPassword, totp: Type.Optional(AnyCode) })
export type SignIn = Static<typeof SignIn>

export const TotpRequired = object({ totpRequired: Type.Literal(true) }, { title: 'TotpRequired' })
export const SignedIn = Type.Union([Session, TotpRequired])
export type SignedIn = Static<typeof SignedIn>

export const SignUp = object({
  email: Email,
  password: Type.Optional({ ...NewPassword, description: 'Needed where no mail can be sent; otherwise it is chosen with the link' }),
  name: Type.Optional(nameText(0, 100)),
})
export type SignUp = Static<typeof SignUp>

export const SignUpMailed = object(
  { mailed: Type.Literal(true), message: Type.String({ description: 'The same whether there is such an account or not' }) },
  { title: 'SignUpMailed' },
)
export const SignedUp = Type.Union([Session, SignUpMailed])
export type SignedUp = Static<typeof SignedUp>

export const CompleteSignUp = object({ token: Link, password: NewPassword })
export type CompleteSignUp = Static<typeof CompleteSignUp>

export const Welcome = object({ token: Link, email: Email, password: NewPassword, name: Type.Optional(nameText(0, 100)) })
export type Welcome = Static<typeof Welcome>

export const Register = object({ token: Link, password: NewPassword, name: Type.Optional(nameText(0, 100)) })
export type Register = Static<typeof Register>

export const Reauthenticate = object({ password: GivenPassword, totp: Type.Optional(AnyCode) })
export type Reauthenticate = Static<typeof Reauthenticate>

export const GiveCode = object({ totp: AnyCode })

export const BeginReauthentication = object({ ...BeginAtProvider.properties, totp: Type.Optional(AnyCode) })
export type BeginReauthentication = Static<typeof BeginReauthentication>

export const ChangePassword = object({ currentPassword: GivenPassword, newPassword: NewPassword })
export type ChangePassword = Static<typeof ChangePassword>

export const RequestReset = object({ email: Type.String({ maxLength: 254 }) })
export const ResetRequested = object({ message: Type.String({ description: 'The same whether there is such a person or not' }) })

export const CompleteReset = object({ token: Link, password: NewPassword })
export type CompleteReset = Static<typeof CompleteReset>

export const SessionEntry = object(
  {
    id: Type.String(),
    isCurrent: Type.Boolean(),
    ip: Type.String({ description: 'Where it was last used from' }),
    userAgent: Type.String(),
    createdAt: Timestamp,
    lastSeenAt: Timestamp,
    expiresAt: Timestamp,
  },
  { title: 'SessionEntry' },
)
export type SessionEntry = Static<typeof SessionEntry>

export const AllowChanges = object({ reason: text(3, 500) })

export const Ended = object({ message: Type.String() }, { title: 'Ended' })

export const TotpSetup = object(
  { secret: Type.String({ description: 'Base32, for typing' }), uri: Type.String({ description: 'otpauth://, for a QR code' }) },
  { title: 'TotpSetup' },
)
export type TotpSetup = Static<typeof TotpSetup>

export const ConfirmTotp = object({ code: Code })

export const Totp = object(
  { enabled: Type.Boolean(), recoveryCodesLeft: Type.Integer({ description: 'How many were not used yet' }) },
  { title: 'Totp' },
)
export type Totp = Static<typeof Totp>

export const RecoveryCodes = object(
  { recoveryCodes: Type.Array(Type.String({ description: 'Works once instead of a code of the app. Shown this once' })) },
  { title: 'RecoveryCodes' },
)
export type RecoveryCodes = Static<typeof RecoveryCodes>

export const ChangeUser = object({
  name: Type.Optional(nameText(0, 100)),
  language: Type.Optional({ ...oneOf([...LANGUAGES]), description: 'Of mails' }),
})
export type ChangeUser = Static<typeof ChangeUser>
