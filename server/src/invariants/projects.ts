// Projects have no money, no limits and no projects of their own, and what is paid for them is in the ledger of their payer.
import { sql } from '../kernel/database/db.ts'
import { invariant, type Invariant } from './invariant.ts'

const payers = invariant(
  'projects.payer',
  'Who pays for a project is no project, and a project has no wallet, payment, invoice or limit of its own',
  () => sql`
    select p.id, format('project %s is paid for by %s, a project itself', p.name, y.id) as what
    from accounts p join accounts y on y.id = p.payer_account_id where y.payer_account_id is not null
    union all
    select p.id, format('project %s has a %s', p.name, own.what) from accounts p join (
      select account_id, 'wallet' as what from wallets union select account_id, 'payment' from payments union select account_id, 'invoice' from invoices
      union select account_id, 'limit' from account_quotas union select account_id, 'warning of a low balance' from low_balance_warnings) own
      on own.account_id = p.id where p.payer_account_id is not null`,
)

const ledger = invariant(
  'projects.ledger',
  'A ledger entry names the project that it was charged for, which is one of the account that paid, and nothing is charged to another payer',
  ({ since }) => sql`
    select t.id, format('entry %s of %s names %s, paid for by %s', t.number, t.account_id, t.project_id, coalesce(p.payer_account_id, 'nobody')) as what
    from wallet_transactions t left join accounts p on p.id = t.project_id
    where t.created_at >= ${since} and t.project_id is not null and p.payer_account_id is distinct from t.account_id
    union all
    select t.id, format('entry %s of %s for %s %s names %s, which is not whose it is', t.number, t.account_id, t.reference_type, t.reference_id,
      coalesce(t.project_id, 'no project'))
    from wallet_transactions t join (
      select id, account_id from vms union all select id, account_id from volumes union all select id, account_id from addresses
      union all select id, account_id from images) r on r.id = t.reference_id
    where t.created_at >= ${since} and r.account_id <> coalesce(t.project_id, t.account_id)`,
)

const suspended = invariant(
  'projects.suspended',
  'A project of a suspended account is suspended',
  () => sql`
    select p.id, format('project %s is not suspended, and %s is since %s', p.name, y.id, y.suspended_at) as what
    from accounts p join accounts y on y.id = p.payer_account_id
    where y.suspended_at is not null and p.suspended_at is null and p.deleted_at is null`,
)

const deleted = invariant(
  'projects.deleted',
  'A deleted project has no resources, members, invitations, tokens, webhooks, alerts or open tickets',
  () => sql`
    select p.id, format('project %s was deleted at %s and has a %s', p.name, p.deleted_at, own.what) as what from accounts p join (
      select account_id, 'VM' as what from vms union select account_id, 'volume' from volumes where deleted_at is null
      union select account_id, 'network' from networks where deleted_at is null union select account_id, 'firewall' from firewalls
      union select account_id, 'floating address' from addresses union select account_id, 'image' from images where status <> 'DELETING'
      union select account_id, 'SSH key' from ssh_keys union select account_id, 'placement group' from placement_groups
      union select account_id, 'member' from members union select account_id, 'invitation' from invitations where status = 'OPEN'
      union select account_id, 'token' from api_tokens union select account_id, 'webhook' from webhooks where deleted_at is null
      union select account_id, 'alert' from alerts union select account_id, 'ticket' from tickets where status <> 'CLOSED') own
      on own.account_id = p.id where p.deleted_at is not null`,
)

export const projectInvariants: Invariant[] = [payers, ledger, suspended, deleted]
