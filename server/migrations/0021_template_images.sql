-- A template has an image once its checksum is known. Until then it is only a name in the catalog, with how to get the image:
-- built here by a recipe, downloaded from a URL, or both. `origin` says in words where the present image came from.
alter table os_templates
  add column virtual_bytes bigint not null default 0,
  add column recipe text,
  add column image_url text,
  add column origin text not null default '',
  add column imported_at timestamptz;

update os_templates set recipe = slug where slug in ('tiny', 'debian-12');
update os_templates set has_agent = true where slug = 'tiny';
