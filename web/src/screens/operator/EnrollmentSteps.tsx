// A machine that is being added: what to run on it, whether it has begun, and what of it is not yet as it must be.
import { useQuery } from '@tanstack/react-query'
import { enrollmentsQuery, hostsQuery, type Host, type HostEnrollment } from '../../api/operator.ts'
import { Code } from '../../ui/CopyButton.tsx'
import { formatDateTime } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { Stack } from '../../ui/Page.tsx'
import { Status, type Tone } from '../../ui/Status.tsx'
import { hostMessages, operatorMessages } from '../../words/words.ts'
import css from './fleet.module.css'
import { commandsFor } from './host-commands.ts'

const w = hostMessages.add

/** `token`: only whoever has just made it has it. */
export function EnrollmentSteps({ enrollment: first, token }: { enrollment: HostEnrollment; token?: string }) {
  const enrollment = (useQuery(enrollmentsQuery).data ?? []).find(({ id }) => id === first.id) ?? first
  const commands = commandsFor({ origin: window.location.origin, uplink: enrollment.uplink })
  return (
    <Stack gap={16}>
      {token !== undefined && (
        <div>
          <strong>{w.token}</strong>
          <p className="muted">{w.tokenAbout(formatDateTime(first.endsAt))}</p>
          <Code text={token} what={w.token} />
        </div>
      )}
      <ol className={css['steps']}>
        <li>{w.install}</li>
        {(['fetch', 'prepare'] as const).map((step) => (
          <li key={step}>
            <div>{w[step]}</div>
            <Code text={commands[step]} what={w.command(w[step])} />
          </li>
        ))}
      </ol>
      <Progress enrollment={enrollment} />
      <a href="/docs/operate/hosts#add-a-host">{w.guide}</a>
    </Stack>
  )
}

function Progress({ enrollment: { name, state, endsAt, checks, hostId } }: { enrollment: HostEnrollment }) {
  const host = (useQuery(hostsQuery).data ?? []).find(({ id }) => id === hostId)
  return (
    <div aria-live="polite">
      {state === 'JOINED' ? (
        <Arrival name={name} host={host} />
      ) : (
        <Status tone={state === 'WAITING' || state === 'FETCHED' ? 'busy' : 'idle'}>
          {w.progress[state](name, formatDateTime(endsAt))}
        </Status>
      )}
      {state === 'FETCHED' && checks.length > 0 && <Checks checks={checks} />}
    </div>
  )
}

const TONES: Record<HostEnrollment['checks'][number]['status'], Tone> = { ok: 'good', warning: 'held', failure: 'bad' }

const Checks = ({ checks }: Pick<HostEnrollment, 'checks'>) => (
  <ul className={css['checks']} aria-label={w.checks}>
    {checks.map(({ status, message, fix }) => (
      <li key={message}>
        <Status tone={TONES[status]}>{message}</Status>
        {fix !== null && <div className="muted">{w.fix(fix)}</div>}
      </li>
    ))}
  </ul>
)

function Arrival({ name, host }: { name: string; host: Host | undefined }) {
  if (!host || host.state === 'unseen') return <Status tone="busy">{w.known(name)}</Status>
  return (
    <>
      <Status tone={host.state === 'ready' ? 'good' : 'bad'}>
        {host.state === 'ready' ? w.ready(name) : w.problem(name, operatorMessages.hosts.states[host.state])}
      </Status>{' '}
      <TextLink to="/operator/hosts/$hostId" params={{ hostId: host.id }}>
        {w.show}
      </TextLink>
    </>
  )
}
