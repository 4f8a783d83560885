-- Who may do what in which account. A person signs in once and may be a member of several accounts.
create table members (
  account_id text not null references accounts,
  user_id text not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'operator', 'billing', 'read-only', 'custom')),
  -- Of a custom role.
  scopes text[] not null default '{}' check ((role = 'custom') = (scopes <> '{}')),
  created_at timestamptz not null,
  primary key (user_id, account_id)
);
create index members_account on members (account_id, user_id);

-- `users.account_id` is an account of which the user is an owner, or null: the version before gives its user every right in it.
alter table users alter column account_id drop not null;

insert into members (account_id, user_id, role, created_at) select account_id, id, 'owner', created_at from users where account_id is not null;

-- Whoever makes a user with an account, also the version before, makes the owner of that account.
create function make_owner() returns trigger language plpgsql as $$
begin
  insert into members (account_id, user_id, role, created_at) values (new.account_id, new.id, 'owner', new.created_at) on conflict do nothing;
  return null;
end $$;
create trigger make_owner after insert on users for each row when (new.account_id is not null) execute function make_owner();

-- Only the hash of the link is stored. An invitation that has ended stays for a time, because mails are limited by how many were sent.
create table invitations (
  id text primary key,
  account_id text not null references accounts,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'operator', 'billing', 'read-only', 'custom')),
  scopes text[] not null default '{}' check ((role = 'custom') = (scopes <> '{}')),
  hash bytea not null unique,
  -- The person who invited, or who made the token that did; null where nobody knows.
  invited_by text references users on delete set null,
  inviter_name text not null,
  is_mailed boolean not null,
  -- The URL of the dashboard.
  link_base text not null,
  mail_attempts integer not null default 0,
  -- Null when nothing is to be sent any more.
  mail_due_at timestamptz,
  status text not null default 'OPEN' check (status in ('OPEN', 'ACCEPTED', 'REVOKED', 'EXPIRED')),
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index invitations_open on invitations (account_id, lower(email)) where status = 'OPEN';
create index invitations_account on invitations (account_id, created_at);
create index invitations_mail on invitations (mail_due_at) where mail_due_at is not null;
create index invitations_email on invitations (lower(email), created_at);

-- Of tokens of accounts with one user, that user is taken for the maker: the secret is known there.
alter table api_tokens add column created_by text references users on delete set null;
update api_tokens t set created_by = (select max(m.user_id) from members m where m.account_id = t.account_id having count(*) = 1);
create index api_tokens_maker on api_tokens (created_by) where created_by is not null;

-- The person behind an entry: who was signed in, or who made the token.
alter table audit_log add column person_id text, add column person_name text;

-- Whether its members need a second factor to do anything in the account.
alter table accounts add column requires_totp boolean not null default false;
