import { Alert } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { firewallMessages as w } from '../../words/words.ts'
import { diffRules, type Change } from './diff.ts'
import { effectsOf, verdictOf, type Effect } from './effect.ts'
import css from './firewalls.module.css'
import { useOwnAddress } from './Presets.tsx'
import { ANY_PORT, sentenceOf, type Rule } from './rule.ts'

const SSH = { direction: 'IN', protocol: 'TCP', port: 22, destination: null } as const

interface Props {
  firewall: Firewall
  before: Rule[]
  after: Rule[]
}

/** Whether SSH is open for whoever looks at it, and would not be any more. */
export function useLocksOut({ before, after }: Omit<Props, 'firewall'>): boolean {
  const source = useOwnAddress() ?? null
  return verdictOf(before, { ...SSH, source }) === 'ACCEPT' && verdictOf(after, { ...SSH, source }) !== 'ACCEPT'
}

/** What would change, in words, and what that means for traffic. */
export function RuleChanges({ firewall, before, after }: Props) {
  const own = useOwnAddress()
  const locksOut = useLocksOut({ before, after })
  return (
    <>
      {locksOut && (
        <Alert color="red" title={w.locksOut}>
          {own === undefined ? w.locksOutAbout : w.locksOutOf(own)}
        </Alert>
      )}
      <ul className={css['diff']} aria-label={w.changes}>
        {diffRules(before, after).map((change) => (
          <li key={`${change.kind} ${change.rule.key}`} data-kind={change.kind}>
            <span className={css['sign']} aria-hidden>
              {SIGNS[change.kind]}
            </span>
            <ChangeText change={change} />
          </li>
        ))}
      </ul>
      <div>
        <h3 className={css['effectTitle']}>{w.effects}</h3>
        <Effects effects={effectsOf(before, after)} />
        {firewall.bindingCount === 0 && <p className="muted">{w.noBindings}</p>}
      </div>
    </>
  )
}

const SIGNS: Record<Change['kind'], string> = { added: '+', removed: '−', changed: '~', moved: '↕' }

function ChangeText({ change }: { change: Change }) {
  const { kind, rule, position } = change
  if (kind === 'changed')
    return (
      <span>
        {w.diff.changed(position)} <del>{sentenceOf(change.before)}</del> <ins>{sentenceOf(rule)}</ins>
      </span>
    )
  const text = kind === 'moved' ? w.diff.moved(change.from, position) : w.diff[kind](position)
  return (
    <span>
      {text} {kind === 'removed' ? <del>{sentenceOf(rule)}</del> : <span>{sentenceOf(rule)}</span>}
    </span>
  )
}

const SHOWN = 12

function Effects({ effects }: { effects: Effect[] | undefined }) {
  if (!effects) return <p className="muted">{w.effectsTooMany}</p>
  if (effects.length === 0) return <p className="muted">{w.noEffects}</p>
  return (
    <ul className={css['effects']} aria-label={w.effects}>
      {effects.slice(0, SHOWN).map((effect) => (
        <li key={JSON.stringify(effect)} data-opens={effect.after === 'ACCEPT'}>
          {effectText(effect)}
        </li>
      ))}
      {effects.length > SHOWN && <li>{w.moreEffects(effects.length - SHOWN)}</li>}
    </ul>
  )
}

function effectText({ direction, protocol, port, source, destination, before, after, isRest }: Effect): string {
  const what = protocol === 'TCP' || protocol === 'UDP' ? `${protocol} ${port === ANY_PORT ? w.allPorts : port}` : protocol
  const anyone = isRest ? w.otherAddresses : w.anyone
  const who =
    direction === 'IN'
      ? w.effectFrom(source ?? anyone) + (destination === null ? '' : ` ${w.effectTo(destination)}`)
      : w.effectTo(destination ?? anyone) + (source === null ? '' : ` ${w.effectFrom(source)}`)
  return w.effect[verbOf(before, after)](`${w.directions[direction]} ${what} ${who}`)
}

const verbOf = (before: Rule['action'], after: Rule['action']) =>
  after === 'ACCEPT'
    ? 'opened'
    : before === 'ACCEPT'
      ? after === 'DROP'
        ? 'closed'
        : 'rejected'
      : after === 'DROP'
        ? 'silent'
        : 'answered'
