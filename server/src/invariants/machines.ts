// Machines on hosts match the database. VMs with an open action are excluded.
import { sql } from '../kernel/database/db.ts'
import { hostInvariant, invariant, type Invariant } from './invariant.ts'
import { isStale, machinesOf } from './inventory.ts'
import { isBusy, isWorkedOn } from './workflows.ts'

const known = hostInvariant(
  'machines.known',
  'Every machine on a host belongs to a VM of that host',
  (host) => sql`
    select m."vmId" as id, format('host %s has a machine for it, but %s', ${host.name}::text,
      case when v.id is null then 'there is no such VM' else format('VM %s lives on %s', v.name, coalesce(v.host_id, 'no host')) end) as what
    from ${machinesOf(host)} left join vms v on v.id = m."vmId"
    where v.host_id is distinct from ${host.id} and not ${isStale(host, sql`m."vmId"`)} and not ${isWorkedOn(sql`m."vmId"`)}`,
)

/** A lost VM is in ERROR. A suspended VM is redefined when it is resumed, so only its disk matters. */
const present = hostInvariant(
  'machines.present',
  'Every VM has its machine',
  (host) => sql`
    select v.id, format('VM %s is %s, but host %s has no machine for it', v.name, v.status, ${host.name}::text) as what
    from vms v left join ${machinesOf(host)} on m."vmId" = v.id
    where v.host_id = ${host.id} and v.provisioned and v.status in ('RUNNING', 'STOPPED') and m."vmId" is null and not ${isBusy}`,
)

const unique = invariant(
  'machines.unique',
  'No VM has machines on two hosts',
  () => sql`
    select m."vmId" as id, format('it is on the hosts %s', string_agg(h.name, ', ')) as what
    from found_machines m join hosts h on h.id = m.host_id
    where not exists (select from stale_machines l where l.host_id = m.host_id and l.vm_id = m."vmId")
      and not ${isWorkedOn(sql`m."vmId"`)} group by m."vmId" having count(*) > 1`,
  { settle: '60s' },
)

const power = hostInvariant(
  'machines.power',
  'The power state of a VM matches its machine',
  (host) => sql`
    select v.id, format('VM %s is %s, its machine on host %s is %s', v.name, v.status, ${host.name}::text, m.power) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId" and v.host_id = ${host.id}
    where (v.status = 'RUNNING') <> (m.power = 'running') and v.status <> 'UNMANAGED' and not ${isBusy} and not ${isStale(host, sql`v.id`)}`,
)

const definition = hostInvariant(
  'machines.definition',
  'A machine has the size, disk generation, rescue system and owner of its VM',
  (host) => sql`
    select v.id, format('VM %s of %s has %s vCPU, %s MiB, generation %s; its machine belongs to %s and has %s, %s, %s', v.name, v.account_id,
      v.vcpu, v.ram_mib, concat_ws(' with rescue ', v.generation, e.generation), m."accountId", m.vcpu, m."ramMiB", concat_ws(' with rescue ', m.generation, m."rescueGeneration")) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId" and v.host_id = ${host.id}
      left join vm_rescues e on e.vm_id = v.id and e.started_at is not null
    where (v.account_id, v.uuid::text, v.vcpu, v.ram_mib, v.generation, e.generation) is distinct from (m."accountId", m.uuid, m.vcpu, m."ramMiB", m.generation, m."rescueGeneration")
      and v.status <> 'UNMANAGED' and not ${isBusy} and not ${isStale(host, sql`v.id`)}`,
)

const volumes = hostInvariant(
  'machines.volumes',
  'A machine has the volumes that are attached to its VM, and no others',
  (host) => sql`
    select v.id, format('VM %s has volumes %s, its machine on host %s has %s', v.name, expected.ids, ${host.name}::text, found.ids) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId" and v.host_id = ${host.id},
      lateral (select array(select o.id from volumes o where o.vm_id = v.id and o.vm_host_id = ${host.id} order by 1) as ids) expected,
      lateral (select array(select unnest(m.volumes) order by 1) as ids) found
    where expected.ids <> found.ids and v.status in ('RUNNING', 'STOPPED') and not ${isBusy} and not ${isStale(host, sql`v.id`)}`,
)

const isos = hostInvariant(
  'machines.isos',
  'A machine has no ISO image but that of its VM, and has it where the VM says so',
  (host) => sql`
    select v.id, format('VM %s has ISO image %s, its machine on host %s has %s', v.name, coalesce(s.image_id, 'none'), ${host.name}::text, coalesce(m."isoId", 'none')) as what
    from ${machinesOf(host)} join vms v on v.id = m."vmId" and v.host_id = ${host.id} left join vm_isos s on s.vm_id = v.id
    where (m."isoId" <> coalesce(s.image_id, '') or s.active and m."isoId" is null) and v.status in ('RUNNING', 'STOPPED')
      and not ${isBusy} and not ${isStale(host, sql`v.id`)}`,
)

export const machineInvariants: Invariant[] = [known, present, unique, power, definition, volumes, isos]
