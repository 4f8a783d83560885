// What a host shows of itself: its certificates, and how OVN knows it.
import type { HostDetails } from '../../api/operator.ts'
import { Card } from '../../ui/Page.tsx'
import { Status } from '../../ui/Status.tsx'
import { Table, type Column } from '../../ui/Table.tsx'
import { Time, useNow } from '../../ui/Time.tsx'
import { commonMessages, hostMessages as w } from '../../words/words.ts'

type Certificate = HostDetails['certificates'][number]
type Chassis = HostDetails['chassis'][number]

const DAY_MS = 86_400_000
/** Those of chassis end within a month, and are renewed twenty days before. */
const WARN_DAYS: Record<Certificate['kind'], number> = { LIBVIRT: 30, CHASSIS: 10 }

function Expiry({ certificate: { kind, expiresAt } }: { certificate: Certificate }) {
  const days = Math.floor((Date.parse(expiresAt) - useNow(3_600_000)) / DAY_MS)
  return (
    <div>
      <Time at={expiresAt} />
      {days < 0 ? (
        <Status tone="bad">{w.expired}</Status>
      ) : days < WARN_DAYS[kind] ? (
        <Status tone="held">{w.expiresSoon(days)}</Status>
      ) : (
        kind === 'CHASSIS' && <div className="muted">{w.renews}</div>
      )}
    </div>
  )
}

const CERTIFICATES: Column<Certificate>[] = [
  { head: w.certificate, cell: ({ kind }) => w.kindsOfCertificates[kind] },
  { head: w.subject, truncate: ({ subject }) => subject, cell: ({ subject }) => <code>{subject}</code> },
  { head: w.issuer, truncate: ({ issuer }) => issuer, cell: ({ issuer }) => <code>{issuer}</code> },
  { head: w.expires, cell: (certificate) => <Expiry certificate={certificate} /> },
  { head: w.readAt, cell: ({ seenAt }) => <Time at={seenAt} as="ago" />, right: true },
]

const CHASSIS: Column<Chassis>[] = [
  { head: w.chassisName, cell: ({ name }) => <code>{name}</code> },
  {
    head: w.encaps,
    cell: ({ encaps }) => encaps.map(({ type, address }) => <div key={`${type} ${address}`}>{`${type} ${address}`}</div>),
  },
  { head: w.boundPorts, cell: ({ ports }) => ports, right: true },
  {
    head: w.confirmed,
    cell: ({ confirmedAt }) => (confirmedAt === null ? commonMessages.never : <Time at={confirmedAt} as="ago" />),
    right: true,
  },
  { head: w.readAt, cell: ({ seenAt }) => <Time at={seenAt} as="ago" />, right: true },
]

export const HostIdentity = ({ host: { certificates, chassis } }: { host: HostDetails }) => (
  <>
    <Card flush title={w.identity}>
      {certificates.length === 0 ? (
        <Nothing>{w.noCertificates}</Nothing>
      ) : (
        <Table caption={w.identity} columns={CERTIFICATES} rows={certificates} rowKey={({ kind }) => kind} />
      )}
    </Card>
    <Card flush title={w.chassis}>
      {chassis.length === 0 ? (
        <Nothing>{w.noChassis}</Nothing>
      ) : (
        <Table caption={w.chassis} columns={CHASSIS} rows={chassis} rowKey={({ name }) => name} />
      )}
    </Card>
  </>
)

export const Nothing = ({ children }: { children: string }) => (
  <p className="muted" style={{ padding: 'var(--space-4) var(--space-5)' }}>
    {children}
  </p>
)
