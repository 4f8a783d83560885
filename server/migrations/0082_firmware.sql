-- The firmware and the TPM of a template's guests. Null: what the machine of its architecture has by default, BIOS on x86_64 and UEFI on aarch64.
alter table os_templates
  add column firmware text check (firmware in ('bios', 'uefi', 'secure-boot')),
  add column tpm boolean not null default false;

-- What a host must be able to run, as in `hosts.guest_types`.
alter table os_templates add column guest_types text[] not null generated always as (array_remove(array[arch,
  case when firmware <> 'bios' then arch || ':' || firmware end, case when tpm then arch || ':tpm' end], null)) stored;
