-- Sign-in by OpenID Connect. The operator adds providers; a person links accounts of theirs.
create table identity_providers (
  id text primary key,
  -- In URLs and in the audit log.
  name text not null unique check (name ~ '^[a-z0-9][a-z0-9-]{0,31}$'),
  title text not null,
  issuer text not null,
  client_id text not null,
  client_secret bytea not null,
  -- Whether whoever it signs in has given two factors.
  is_second_factor boolean not null,
  -- What it said of itself when it was last asked.
  metadata jsonb not null,
  discovered_at timestamptz not null,
  -- Why it could not be asked again.
  discovery_error text,
  created_at timestamptz not null,
  unique (issuer, client_id)
);

-- An identity is what the provider calls its subject, never an e-mail address.
create table identities (
  id text primary key,
  provider_id text not null references identity_providers on delete cascade,
  subject text not null,
  user_id text not null references users on delete cascade,
  -- How the provider calls the person, shown and nothing else.
  label text not null,
  created_at timestamptz not null,
  last_used_at timestamptz not null,
  unique (provider_id, subject),
  unique (user_id, provider_id)
);

-- Sessions that were begun by an identity end with it.
alter table sessions add column identity_id text references identities on delete cascade,
  add column has_second_factor boolean not null default false;
create index sessions_identity on sessions (identity_id) where identity_id is not null;

-- What somebody went to a provider for: it is gone when they return, so that nothing is used twice.
create table identity_flows (
  id text primary key,
  kind text not null check (kind in ('SIGN_IN', 'LINK', 'REAUTHENTICATE', 'CODE')),
  provider_id text not null references identity_providers on delete cascade,
  -- Of the parameter `state`; null once they have returned and owe the code of their second factor (CODE).
  state_hash bytea unique,
  -- Of a cookie: only the browser that began goes on.
  browser_hash bytea not null,
  -- PKCE verifier and nonce.
  secret bytea,
  redirect_uri text not null,
  -- Who is signed in and goes there to link or to prove themselves; of CODE, who has proved themselves.
  user_id text references users on delete cascade,
  session_id text references sessions on delete cascade,
  identity_id text references identities on delete cascade,
  -- Of CODE: when the provider had them prove themselves.
  authenticated_at timestamptz,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  check ((kind = 'CODE') = (state_hash is null)),
  check ((kind = 'CODE') = (secret is null)),
  check ((kind = 'CODE') = (identity_id is not null)),
  check ((kind = 'SIGN_IN') = (user_id is null)),
  check ((kind in ('LINK', 'REAUTHENTICATE')) = (session_id is not null))
);
create index identity_flows_browser on identity_flows (browser_hash) where kind = 'CODE';
create index identity_flows_expires on identity_flows (expires_at);
create index identity_flows_provider on identity_flows (provider_id);
create index identity_flows_user on identity_flows (user_id) where user_id is not null;
create index identity_flows_session on identity_flows (session_id) where session_id is not null;
create index identity_flows_identity on identity_flows (identity_id) where identity_id is not null;

-- What people are told by mail of their ways in.
create table identity_mails (
  id text primary key,
  user_id text not null references users on delete cascade,
  kind text not null check (kind in ('LINKED', 'UNLINKED', 'REMOVED', 'LAST_REMOVED')),
  provider_title text not null,
  label text not null,
  -- The URL of the dashboard.
  link_base text not null,
  attempts integer not null default 0,
  due_at timestamptz not null,
  created_at timestamptz not null
);
create index identity_mails_due on identity_mails (due_at);
create index identity_mails_user on identity_mails (user_id);
