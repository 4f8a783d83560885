import { Email, nullable, object, text, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { RoleName } from '../accounts/schema.ts'
import { BudgetInput, BudgetLimits, BudgetView } from '../budgets/schema.ts'
import { defineEvent, type PayloadsOf } from '../events/schema.ts'

const Scopes = Type.Array(text(1, 64), {
  minItems: 1,
  maxItems: 100,
  description: 'Of the role `custom`, and only of it. Shorthands such as *, vms:* and *:read are expanded',
})

const eventFields = {
  id: Type.String({ description: 'Of the person; the same in the audit log' }),
  email: Type.String(),
  name: Type.String(),
  role: RoleName,
  scopes: Type.Array(Type.String(), { description: 'What the role allows' }),
  createdAt: Timestamp,
}
const memberFields = {
  ...eventFields,
  twoFactorEnabled: Type.Boolean(),
  inherited: Type.Boolean({ description: 'Of a project: as owner or admin of the account that pays, where it can be changed' }),
  budget: nullable(BudgetView),
}

export const Member = object(memberFields, { title: 'Member' })
export type Member = Static<typeof Member>

const revokedTokenIds = Type.Array(Type.String(), {
  description: 'Of API tokens that the person had made and that could do more than the person can now: they stopped working',
})

export const ChangedMember = object({ ...memberFields, revokedTokenIds }, { title: 'ChangedMember' })
export type ChangedMember = Static<typeof ChangedMember>

export const RemovedMember = object({ id: Type.String(), deleted: Type.Literal(true), revokedTokenIds }, { title: 'RemovedMember' })
export type RemovedMember = Static<typeof RemovedMember>

const Budget = Type.Optional(nullable(BudgetInput))

export const UpdateMember = object(
  { role: Type.Optional(RoleName), scopes: Type.Optional(Scopes), budget: Budget },
  { description: 'At least one of role and budget. An owner has no budget' },
)
export type UpdateMember = Static<typeof UpdateMember>

const invitationFields = {
  id: Type.String(),
  email: Type.String(),
  role: RoleName,
  scopes: Type.Array(Type.String(), { description: 'What the role allows' }),
  budget: nullable(BudgetLimits),
  invitedBy: Type.String({ description: 'E-mail address of the person, or name of the token' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
}

export const Invitation = object(invitationFields, { title: 'Invitation' })
export type Invitation = Static<typeof Invitation>

export const NewInvitation = object(
  {
    ...invitationFields,
    url: nullable(
      Type.String({
        description: 'The link, shown this once where no mail can be sent: hand it over yourself. Otherwise null: it is mailed',
      }),
    ),
  },
  { title: 'NewInvitation' },
)
export type NewInvitation = Static<typeof NewInvitation>

export const CreateInvitation = object({ email: Email, role: RoleName, scopes: Type.Optional(Scopes), budget: Budget })
export type CreateInvitation = Static<typeof CreateInvitation>

export const DeletedInvitation = object({ id: Type.String(), deleted: Type.Literal(true) }, { title: 'DeletedInvitation' })

/** What who has the link sees of it. */
export const InvitationLink = object({ token: text(1, 100) })

export const InvitationPreview = object(
  {
    account: object({ id: Type.String(), name: Type.String() }),
    email: Type.String(),
    role: RoleName,
    invitedBy: Type.String(),
    canRegister: Type.Boolean({ description: 'Whether somebody new may sign up with the link' }),
    expiresAt: Timestamp,
  },
  { title: 'InvitationPreview' },
)
export type InvitationPreview = Static<typeof InvitationPreview>

export const Joined = object({ accountId: Type.String(), role: RoleName }, { title: 'Joined' })
export type Joined = Static<typeof Joined>

export const Left = object({ accountId: Type.String(), left: Type.Literal(true), revokedTokenIds }, { title: 'Left' })
export type Left = Static<typeof Left>

const MemberEventData = object(
  { member: object({ ...eventFields, budget: nullable(BudgetLimits) }, { title: 'EventMember' }) },
  { title: 'MemberEventData' },
)

export const memberEvents = {
  'member.updated': defineEvent(MemberEventData, 'A member got another role or another budget', { by: ['updateMember'] }),
}

declare module '../events/schema.ts' {
  interface EventPayloads extends PayloadsOf<typeof memberEvents> {}
}
