import { Alert, Checkbox } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import type { Change } from './diff.ts'
import { effectsOf, verdictOf, type Effect } from './effect.ts'
import css from './firewalls.module.css'
import { useOwnAddress } from './Presets.tsx'
import { ANY_PORT, sentenceOf, toApi, type Rule } from './rule.ts'
import type { Draft } from './useDraft.ts'

const CONFIRM_SECONDS = 120
const SSH = { direction: 'IN', protocol: 'TCP', port: 22, destination: null } as const

/** What would change, in words, and what that means for traffic, before anything happens. */
export function ReviewDialog({ firewall, draft, onClose }: { firewall: Firewall; draft: Draft; onClose: () => void }) {
  const { before, rules, changes } = draft
  const client = useQueryClient()
  const own = useOwnAddress()
  const source = own ?? null
  const locksOut = verdictOf(before, { ...SSH, source }) === 'ACCEPT' && verdictOf(rules, { ...SSH, source }) !== 'ACCEPT'
  const [confirms, setConfirms] = useState<boolean | null>(null)
  const isConfirmed = confirms ?? locksOut
  const apply = useWrite(
    () =>
      berth.firewalls.replaceRules(firewall.id, rules.map(toApi), {
        basedOn: draft.basedOn,
        ...(isConfirmed && { confirmWithinSeconds: CONFIRM_SECONDS }),
      }),
    {
      inForm: true,
      successMessage: isConfirmed ? w.appliedUnconfirmed : w.appliedRules,
      onDone: async () => {
        // Or the rules before would be shown for a moment.
        await client.invalidateQueries({ queryKey: ['firewalls'] })
        draft.discard()
        onClose()
      },
    },
  )
  const effects = effectsOf(before, rules)
  return (
    <Dialog title={w.reviewTitle} onClose={onClose} size="lg">
      <Form onSubmit={() => apply.mutate()} busy={apply.isPending} error={apply.error} submit={w.apply(changes.length)} onCancel={onClose}>
        {locksOut && (
          <Alert color="red" title={w.locksOut}>
            {own === undefined ? w.locksOutAbout : w.locksOutOf(own)}
          </Alert>
        )}
        <ul className={css['diff']} aria-label={w.changes}>
          {changes.map((change) => (
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
          <Effects effects={effects} />
          {firewall.bindingCount === 0 && <p className="muted">{w.noBindings}</p>}
        </div>
        <Checkbox
          label={w.confirmLabel(CONFIRM_SECONDS / 60)}
          description={w.confirmAbout}
          checked={isConfirmed}
          onChange={(event) => setConfirms(event.currentTarget.checked)}
        />
      </Form>
    </Dialog>
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
