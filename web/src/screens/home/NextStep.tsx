import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { sshKeysQuery, useWallet } from '../../queries/account.ts'
import { vmsQuery } from '../../queries/vms.ts'
import { Icon } from '../../ui/Icon.tsx'
import { ButtonLink } from '../../ui/links.tsx'
import { homeMessages } from '../../words/words.ts'
import { fundingOf } from '../wallet/funding.ts'
import css from './home.module.css'

const w = homeMessages.next

/** The next onboarding step; hidden once all are done. */
export function NextStep() {
  const keys = useQuery(sshKeysQuery({ limit: 1 })).data
  const wallet = useWallet().data
  const vms = useQuery(vmsQuery({ limit: 1 })).data
  const session = useQuery(sessionQuery).data
  const isProject = session?.account?.isProject ?? false
  if (!keys || !(wallet || isProject) || !vms || !session) return null
  const steps = [
    { done: keys.pagination.total > 0, to: '/ssh-keys', title: w.sshKey, button: w.sshKeyButton, about: w.sshKeyAbout },
    ...(wallet ? [{ done: Number(wallet.balance) > 0 || vms.pagination.total > 0, title: w.wallet, ...fundingOf(session) }] : []),
    { done: vms.pagination.total > 0, to: '/vms/new', title: w.vm, button: w.vmButton, about: w.vmAbout },
    {
      done: session.user.totpEnabled,
      to: '/settings',
      search: { tab: 'security' },
      title: w.totp,
      button: w.totpButton,
      about: w.totpAbout,
    },
  ]
  const next = steps.find(({ done }) => !done)
  if (!next) return null
  return (
    <section className={css['next']} aria-label={w.title}>
      <div>
        <div className={css['nextKicker']}>
          {w.title} · {w.progress(steps.filter(({ done }) => done).length, steps.length)}
        </div>
        <div className={css['nextTitle']}>{next.title}</div>
        <div className="muted">{next.about}</div>
        <ol className={css['nextSteps']}>
          {steps.map((step) => (
            <li key={step.title} data-done={step.done} aria-current={step === next ? 'step' : undefined}>
              <span className={css['nextMark']}>{step.done && <Icon name="check" size={11} />}</span>
              {step.title}
              {step.done && <span className="hidden">{` ${w.done}`}</span>}
            </li>
          ))}
        </ol>
      </div>
      <ButtonLink to={next.to} search={next.search ?? {}}>
        {next.button}
      </ButtonLink>
    </section>
  )
}
