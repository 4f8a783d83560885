import { nameText, nullable, object, oneOf, Timestamp, Type, type Static } from '../../http/api/schema.ts'
import { BudgetView } from '../budgets/schema.ts'

export const ROLES = ['owner', 'admin', 'operator', 'billing', 'read-only', 'custom'] as const
export type Role = (typeof ROLES)[number]

export const RoleName = oneOf([...ROLES])

export const Account = object(
  {
    id: Type.String(),
    email: nullable(Type.String({ description: 'Null of a project' })),
    name: Type.String(),
    isProject: Type.Boolean({ description: 'Whether another account pays for it: what it costs and its limits are those of that account' }),
    requireTwoFactor: Type.Boolean({ description: 'Whether members without two-factor authentication can do nothing in the account' }),
    budget: nullable(BudgetView),
    createdAt: Timestamp,
  },
  { title: 'Account' },
)
export type Account = Static<typeof Account>

export const UpdateAccount = object({
  name: Type.Optional(nameText(0, 100)),
  requireTwoFactor: Type.Optional(
    Type.Boolean({ description: 'Only a signed-in owner changes it, and only one with two-factor authentication switches it on' }),
  ),
})
export type UpdateAccount = Static<typeof UpdateAccount>

export const AccountLimit = object(
  {
    name: Type.String({
      description:
        'vms, vcpu, ram (MiB), disk (GiB), copies (GiB of snapshots and backups), projects, networks, addresses, images, imageStorage (GiB of images), failedImportGibPerDay (GiB that imports of images that failed received and unpacked in 24 hours), volumes, volumeStorage (GiB), firewalls, rulesPerFirewall, snapshotsPerVm, snapshotsPerVolume, webhooks, sshKeys, tokens, openTickets or repliesPerTicket; others may follow',
    }),
    limit: Type.Integer({ description: 'The most the account, or each single thing, may hold' }),
    used: nullable(Type.Integer({ description: 'How much of it is in use; null where the limit holds for each single thing' })),
  },
  { title: 'AccountLimit' },
)
export type AccountLimit = Static<typeof AccountLimit>
