import { Alert, Button } from '@mantine/core'
import type { Firewall } from '@berth/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { Card, Row } from '../../ui/Page.tsx'
import { Loaded } from '../../ui/AsyncState.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import css from './firewalls.module.css'
import { Presets } from './Presets.tsx'
import { ReviewDialog } from './ReviewDialog.tsx'
import type { Rule } from './rule.ts'
import { RuleDialog } from './RuleDialog.tsx'
import { RuleRow } from './RuleRow.tsx'
import type { Draft } from './useDraft.ts'

export const Rules = ({ firewall, query, draft }: { firewall: Firewall; query: UseQueryResult; draft: Draft | null }) =>
  draft ? (
    <RuleEditor firewall={firewall} draft={draft} />
  ) : (
    <Card flush title={w.rules} about={w.rulesAbout}>
      <Loaded of={query} lines={3}>
        {() => null}
      </Loaded>
    </Card>
  )

function RuleEditor({ firewall, draft }: { firewall: Firewall; draft: Draft }) {
  const { rules, changes } = draft
  const [edited, setEdited] = useState<Rule | 'new' | null>(null)
  const [isReviewing, setIsReviewing] = useState(false)
  const waits = firewall.confirmBy !== null
  const { move, target, setTarget, announcement } = useOrder(draft)
  const markOf = ({ key }: Rule) => changes.find((each) => each.kind !== 'removed' && each.rule.key === key)?.kind as 'added' | undefined
  const save = (rule: Rule): void =>
    draft.set(edited === 'new' ? [...rules, rule] : rules.map((each) => (each.key === rule.key ? rule : each)))
  const actions = (
    <Row>
      <Presets draft={draft} />
      <Button size="xs" onClick={() => setEdited('new')}>
        {w.addRule}
      </Button>
    </Row>
  )
  return (
    <Card flush title={w.rules} about={w.rulesAbout} actions={actions}>
      {rules.length === 0 ? (
        <p className={css['none']}>{w.noRules}</p>
      ) : (
        <ol className={css['rules']} aria-label={w.rules}>
          {rules.map((rule, index) => (
            <RuleRow
              key={rule.key}
              rule={rule}
              index={index}
              mark={markOf(rule)}
              isTarget={target === index}
              onDragOver={() => setTarget(index)}
              onDrop={(key) =>
                move(
                  rules.findIndex((each) => each.key === key),
                  index,
                )
              }
              onMove={(by) => move(index, index + by)}
              onEdit={() => setEdited(rule)}
              onDelete={() => draft.set(rules.filter((each) => each !== rule))}
            />
          ))}
        </ol>
      )}
      <output className="hidden">{announcement}</output>
      {changes.length > 0 && (
        <section className={css['draft']} aria-label={w.draft}>
          {draft.isOutdated && <Alert color="yellow">{w.outdated}</Alert>}
          {waits && <Alert color="yellow">{w.confirmFirst}</Alert>}
          <div className={css['draftBar']}>
            <span className={css['draftText']}>{w.draftOf(changes.length)}</span>
            <Button variant="default" size="xs" onClick={draft.discard}>
              {w.discard}
            </Button>
            <Button size="xs" disabled={draft.isOutdated || waits} onClick={() => setIsReviewing(true)}>
              {w.review}
            </Button>
          </div>
        </section>
      )}
      {edited && <RuleDialog rule={edited === 'new' ? undefined : edited} onSave={save} onClose={() => setEdited(null)} />}
      {isReviewing && <ReviewDialog firewall={firewall} draft={draft} onClose={() => setIsReviewing(false)} />}
    </Card>
  )
}

function useOrder({ rules, set }: Draft) {
  const [target, setTarget] = useState<number | null>(null)
  const [announcement, setAnnouncement] = useState('')
  const move = (from: number, to: number): void => {
    setTarget(null)
    const rule = rules[from]
    if (!rule || from === to || to < 0 || to >= rules.length) return
    set(rules.filter((each) => each !== rule).toSpliced(to, 0, rule))
    setAnnouncement(w.moved(from + 1, to + 1))
  }
  return { move, target, setTarget, announcement }
}
