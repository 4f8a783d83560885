-- ISO images in the CD drives of VMs: one each. The row exists from the request on, so that nobody deletes the image meanwhile.
create table vm_isos (
  vm_id text primary key references vms on delete cascade,
  image_id text not null references images,
  -- Null until it is attached. From then on whatever starts the machine starts it with the image.
  attached_at timestamptz,
  -- Whether the machine has it in its drive: since it was last started, or since it was put there.
  active boolean not null default false
);
create index vm_isos_image on vm_isos (image_id);

alter table orphan_volumes drop constraint orphan_volumes_kind_check;
alter table orphan_volumes
  add constraint orphan_volumes_kind_check check (kind in ('disk', 'seed', 'snapshot', 'backup', 'template', 'volume', 'iso'));

alter table simulated.volumes drop constraint volumes_kind_check;
alter table simulated.volumes add constraint volumes_kind_check check (kind in ('disk', 'seed', 'snapshot', 'backup', 'template', 'volume', 'iso'));
-- What is in the drive of a machine that has one.
alter table simulated.machines add column has_drive boolean not null default false, add column iso_id text,
  -- Whether its guest is the system on the image.
  add column boots_iso boolean not null default false;
