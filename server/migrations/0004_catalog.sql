-- Products and prices. Rows are seeded from the catalog file when their slug is missing, and never overwritten.
create table regions (
  id text primary key,
  slug text not null unique,
  name text not null,
  country text not null,
  city text not null,
  flag text not null,
  available boolean not null default true,
  position integer not null,
  created_at timestamptz not null
);

create table plans (
  id text primary key,
  slug text not null unique,
  name text not null,
  vcpu integer not null check (vcpu > 0),
  ram_mib integer not null check (ram_mib > 0),
  disk_gib integer not null check (disk_gib > 0),
  bandwidth_gb integer not null check (bandwidth_gb >= 0),
  network_mbps integer not null check (network_mbps > 0),
  throttle_mbps integer not null check (throttle_mbps > 0),
  price_cents bigint not null check (price_cents >= 0),
  available boolean not null default true,
  is_default boolean not null default false,
  region_slugs text[],
  position integer not null,
  created_at timestamptz not null
);
create unique index plans_one_default on plans (is_default) where is_default;

-- A template has an image once its checksum is known. Until then it is only a catalog entry with a way to get the image: built locally
-- by a recipe, downloaded from a URL, or both. `origin` describes where the current image came from.
create table os_templates (
  id text primary key,
  slug text not null unique,
  name text not null,
  version text not null,
  distribution text not null,
  arch text not null,
  min_disk_gib integer not null,
  min_ram_mib integer not null,
  default_user text not null,
  cloud_init boolean not null,
  has_agent boolean not null,
  size_bytes bigint not null,
  virtual_bytes bigint not null default 0,
  checksum text not null,
  recipe text,
  image_url text,
  origin text not null default '',
  imported_at timestamptz,
  available boolean not null default true,
  deprecated_at timestamptz,
  position integer not null,
  created_at timestamptz not null
);

-- One number per name: unit prices in cents, default quotas, operator settings.
create table catalog_values (
  name text primary key,
  value bigint not null
);
