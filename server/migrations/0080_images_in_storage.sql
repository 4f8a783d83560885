-- Room that an image of an account takes in a storage backend, where disks of VMs are clones of it. Until now the host of such a VM was noted in
-- image_rooms, with no GiB.
create table image_storage_rooms (
  image_id text not null references images,
  storage_id text not null references storage_backends,
  gib integer not null check (gib > 0),
  primary key (image_id, storage_id)
);
create index image_storage_rooms_storage on image_storage_rooms (storage_id);
