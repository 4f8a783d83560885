-- What hosts show of themselves: the certificates that lie on them, and their chassis in OVN, as they were last read.
create table host_certificates (
  host_id text not null references hosts on delete cascade,
  kind text not null check (kind in ('LIBVIRT', 'CHASSIS')),
  subject text not null,
  issuer text not null,
  expires_at timestamptz not null,
  seen_at timestamptz not null,
  primary key (host_id, kind)
);

create table host_chassis (
  host_id text not null references hosts on delete cascade,
  name text not null,
  -- [{ type, address }], of its tunnels.
  encaps jsonb not null,
  ports integer not null,
  -- When it last put a change in force.
  confirmed_at timestamptz,
  seen_at timestamptz not null,
  primary key (host_id, name)
);
