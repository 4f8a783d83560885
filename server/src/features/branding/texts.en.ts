// What mails say. A paragraph that names something that there is not is left out.
import type { MailTexts } from './mails.schema.ts'

const unpaid = (what: string, consequence: string) => ({
  subject: `Your ${what} {name} will ${consequence}`,
  body: `The renewal of your ${what} {name} ({id}) could not be paid.

{reason}

Deposit what is due and the ${what} stays yours as if nothing had happened.`,
})

export const english: MailTexts = {
  'billing.low_balance': {
    subject: 'Your balance is low',
    body: `Your wallet holds {balance} {currency}, and the renewals of the next 7 days cost {due} {currency}.

Deposit at least {missing} {currency}. A VM whose renewal cannot be paid is suspended 24 hours later.`,
  },
  'vm.past_due': {
    subject: 'Your VM {vm} will be suspended',
    body: `The renewal of your VM {vm} ({id}) could not be paid.

{reason}

Deposit what is due and the VM runs on as if nothing had happened.`,
  },
  'vm.suspended_unpaid': {
    subject: 'Your VM {vm} is suspended',
    body: `Your VM {vm} ({id}) is suspended, because its renewal is unpaid.

Its disk and its address are kept for 7 days; then it is deleted.

Deposit what is due and it comes back by itself.`,
  },
  'vm.suspended': {
    subject: 'Your VM {vm} is suspended',
    body: `Your VM {vm} ({id}) was suspended by the operator.

Its disk and its address are kept. Open a ticket to ask why.`,
  },
  'vm.recovered': {
    subject: 'Your VM {vm} was restored from a backup',
    body: `Your VM {vm} ({id}) is on another host.

{reason}

Its snapshots, and its volumes on local storage, were on the same disks and are lost. What was paid for the rest of their period was refunded.`,
  },
  'vm.lost': {
    subject: 'Your VM {vm} is lost',
    body: `Your VM {vm} ({id}) is lost.

{reason}

Rebuild it to start anew with an empty disk, or delete it. Until then it costs nothing.`,
  },
  'vm.rescue_expired': {
    subject: 'The rescue of your VM {vm} is over',
    body: `Your VM {vm} ({id}) has been in rescue for 24 hours, and is restarted from its own disk.

What you stored on the disk of the rescue system itself is lost; what you changed on its own disk is kept.

If it does not start, look at its console and start it in rescue again.`,
  },
  'volume.past_due': unpaid('volume', 'be detached, then deleted'),
  'volume.deleted': {
    subject: 'Your volume {name} was deleted',
    body: `Your volume {name} ({id}) was deleted, with its snapshots.

{reason}

What was paid for unused days was refunded.`,
  },
  'image.past_due': unpaid('image', 'be deleted'),
  'address.past_due': unpaid('address', 'be released'),
  'maintenance.announced': {
    subject: 'Maintenance of a host of your VMs',
    body: `A host with {count} of your VMs will be maintained from {start} to {end}.

VMs: {vms}

{text}

You find it on the first page of the dashboard, too. If you write to us about it, call it {id}.`,
  },
  'maintenance.cancelled': {
    subject: 'A maintenance does not take place',
    body: 'The maintenance that was announced from {start} to {end} ({id}) was cancelled.',
  },
  'alert.fired': {
    subject: 'Alert: {alert}',
    body: `VM: {vm} ({id})

{metric} is {value} ({comparison} {threshold}) since {since}.

That is your alert {alert} ({alertId}).`,
  },
  'alert.resolved': {
    subject: 'Over: {alert}',
    body: `The alert {alert} ({alertId}) that was told at {since} has ended.

VM: {vm} ({id})

{metric} is {value} again.

{reason}`,
  },
  'backup.verification_failed': {
    subject: 'A backup of your VM {vm} cannot be restored',
    body: `The backup {backup} of your VM {vm} was restored on trial, and that failed.

{reason}

Make another backup.`,
  },
  'webhook.disabled': {
    subject: 'Webhook disabled',
    body: `Events are no longer sent to {url} (webhook {id}).

{reason}

Fix the endpoint and re-enable the webhook. What happened meanwhile is in the event feed.`,
  },
  'ticket.reply': {
    subject: 'New reply to your ticket: {ticket}',
    body: `Support has answered your ticket "{ticket}" ({id}).

Read it in the dashboard under Tickets, or with GET /tickets/{id}.`,
  },
  password_reset: {
    subject: 'Set a new password',
    body: `Somebody, hopefully you, asked for a new password of the dashboard.

Set it here within an hour: {link}

These sign you in too, and a new password does not change that: {identities}. Unlink what is not yours under Security in the settings.

If it was not you, do nothing: your password stays as it is.`,
  },
  sign_up: {
    subject: 'Confirm your email address',
    body: `Somebody, hopefully you, wants to create an account for this address.

Choose a password within a day, and the account is yours: {link}

If it was not you, do nothing: no account is created.`,
  },
  sign_up_exists: {
    subject: 'You have an account already',
    body: `Somebody, hopefully you, wanted to create an account for this address. There is one already.

Sign in as before. If you forgot the password, set a new one: {link}

If it was not you, do nothing.`,
  },
  invitation: {
    subject: 'You are invited to an account',
    body: `{inviter} invites you to the account {account}, as {role}.

Accept until {until}: {link}

If you do not know who this is, do nothing: nobody learns whether you have an account.`,
  },
  identity_linked: {
    subject: 'You can sign in with {provider} now',
    body: `Somebody, hopefully you, linked an account of {provider} to yours: it signs in from now on.

The account there is {account}.

If it was not you, unlink it at once under Security in the settings, and change your password: {link}`,
  },
  identity_unlinked: {
    subject: '{provider} signs you in no more',
    body: `Somebody, hopefully you, unlinked the account of {provider} from yours.

The account there is {account}.

If it was not you, change your password under Security in the settings, and unlink there what else signs in and is not yours: {link}`,
  },
  identity_removed: {
    subject: '{provider} signs you in no more',
    body: `Signing in with {provider} is offered no more, so your account of it is unlinked.

The account there is {account}.

Sign in as you otherwise do. What signs you in is listed under Security in the settings: {link}`,
  },
  identity_removed_last: {
    subject: 'Set a password: {provider} signs you in no more',
    body: `Signing in with {provider} is offered no more, and it was your only way in.

The account there is {account}.

Set a password here within 7 days: {link}

After that, ask for another link where you sign in.`,
  },
}
