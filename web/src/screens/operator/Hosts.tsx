// The fleet: hosts as tiles, problems first, then the fullest.
import { Button, NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { hostsQuery, type Host } from '../../api/operator.ts'
import { Empty, Loaded } from '../../ui/AsyncState.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { TextLink } from '../../ui/links.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RowMenu } from '../../ui/RowMenu.tsx'
import { Status } from '../../ui/Status.tsx'
import { StatusFilter } from '../../ui/StatusFilter.tsx'
import { Time } from '../../ui/Time.tsx'
import { commonMessages, hostMessages, operatorMessages } from '../../words/words.ts'
import { AddHost } from './AddHost.tsx'
import { CapacityMeter } from './CapacityMeter.tsx'
import { Enrollments } from './Enrollments.tsx'
import css from './fleet.module.css'
import { useHostActions } from './host-actions.tsx'
import { byUrgency, HOST_TONES, RUNBOOKS } from './host-states.ts'
import { Maintenances } from './Maintenances.tsx'
import { Recoveries } from './Recoveries.tsx'

const w = operatorMessages.hosts

export default function Hosts() {
  const { search, filter } = usePaging()
  const { status, type: region } = search
  const hosts = useQuery(hostsQuery)
  const { itemsOf, dialog } = useHostActions()
  const regions = [...new Set((hosts.data ?? []).map((each) => each.region))].toSorted()
  const [adds, setAdds] = useState(false)
  const filters = (
    <>
      <StatusFilter label={w.state} status={status} choices={w.states} />
      {regions.length > 1 && (
        <NativeSelect
          aria-label={hostMessages.region}
          value={region ?? ''}
          onChange={(event) => filter({ type: event.currentTarget.value || undefined })}
          data={[{ value: '', label: hostMessages.anyRegion }, ...regions]}
        />
      )}
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdds(true)}>
        {hostMessages.add.open}
      </Button>
    </>
  )
  return (
    <Page title={w.title} about={w.about} actions={filters}>
      <Loaded of={hosts}>
        {(all) => {
          const shown = all.filter((host) => (!status || host.state === status) && (!region || host.region === region)).toSorted(byUrgency)
          return shown.length === 0 ? (
            <Card flush>
              <Empty
                icon="server"
                title={all.length === 0 ? w.empty : hostMessages.noneFound}
                about={all.length === 0 ? w.emptyAbout : hostMessages.noneFoundAbout}
              />
            </Card>
          ) : (
            <ul className={css['tiles']} aria-label={w.title}>
              {shown.map((host) => (
                <li key={host.id} className={css['tile']} data-tone={HOST_TONES[host.state]}>
                  <Tile host={host} menu={<HostMenu host={host} items={itemsOf(host)} />} />
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
      <Enrollments />
      <Recoveries />
      <Maintenances />
      {dialog}
      {adds && <AddHost hosts={hosts.data ?? []} onClose={() => setAdds(false)} />}
    </Page>
  )
}

const HostMenu = ({ host, items }: { host: Host; items: Parameters<typeof RowMenu>[0]['items'] }) =>
  items.length > 0 && <RowMenu name={host.name} items={items} />

function Tile({ host, menu }: { host: Host; menu: ReactNode }) {
  const { id, name, region, driver, traits, dedicatedCpus, state, draining, vmCount, lastSeenAt, vcpu, ramMiB, diskGiB } = host
  const about = [region, driver, ...traits].join(' · ')
  return (
    <>
      <div className={css['head']}>
        <div className={css['names']}>
          <h2 className={css['name']} title={name}>
            <TextLink to="/operator/hosts/$hostId" params={{ hostId: id }}>
              {name}
            </TextLink>
          </h2>
          <div className={css['about']} title={about}>
            {about}
          </div>
        </div>
        {menu}
      </div>
      <div className={css['state']}>
        <Status tone={HOST_TONES[state]}>{draining && state === 'maintenance' ? w.draining : w.states[state]}</Status>
        {RUNBOOKS[state] && <a href={RUNBOOKS[state]}>{w.runbook}</a>}
        <span className={css['count']}>{hostMessages.vms(vmCount)}</span>
      </div>
      <dl className={css['meters']}>
        <dt>{w.vcpu}</dt>
        <dd>
          <CapacityMeter of={vcpu} what={w.vcpu} where={name} />
        </dd>
        <dt>{w.ram}</dt>
        <dd>
          <CapacityMeter of={ramMiB} what={w.ram} where={name} unit="GiB" mebibytes />
        </dd>
        <dt>{w.disk}</dt>
        <dd>
          <CapacityMeter of={diskGiB} what={w.disk} where={name} unit="GiB" />
        </dd>
      </dl>
      <div className={css['foot']}>
        <span>
          {w.seen} {lastSeenAt ? <Time at={lastSeenAt} as="ago" /> : commonMessages.never}
        </span>
        {dedicatedCpus.total > 0 && <span>{w.dedicated(dedicatedCpus.used, dedicatedCpus.total)}</span>}
      </div>
    </>
  )
}
