import { ActionIcon } from '@mantine/core'
import type { DragEvent, KeyboardEvent } from 'react'
import { Icon } from '../../ui/Icon.tsx'
import { firewallMessages as w } from '../../words/words.ts'
import css from './firewalls.module.css'
import { whatOf, whoOf, type Rule } from './rule.ts'

interface Props {
  rule: Rule
  index: number
  /** How it differs from what is in force. */
  mark?: 'added' | 'changed' | 'moved'
  isTarget: boolean
  onDragOver: () => void
  onDrop: (key: string) => void
  onMove: (by: 1 | -1) => void
  onEdit: () => void
  onDelete: () => void
}

const TYPE = 'application/x-rule'

/** Ignores other drags, such as text or files. */
const carriesRule = (event: DragEvent): boolean => event.dataTransfer.types.includes(TYPE)

export function RuleRow({ rule, index, mark, isTarget, onDragOver, onDrop, onMove, onEdit, onDelete }: Props) {
  const byKey = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    onMove(event.key === 'ArrowUp' ? -1 : 1)
  }
  return (
    <li
      className={css['rule']}
      data-target={isTarget}
      data-mark={mark}
      draggable
      onDragStart={(event) => event.dataTransfer.setData(TYPE, rule.key)}
      onDragOver={(event) => {
        if (!carriesRule(event)) return
        event.preventDefault()
        onDragOver()
      }}
      onDrop={(event) => {
        if (!carriesRule(event)) return
        event.preventDefault()
        onDrop(event.dataTransfer.getData(TYPE))
      }}
    >
      <button type="button" className={css['handle']} aria-label={w.drag(index + 1)} onKeyDown={byKey}>
        <Icon name="drag" size={16} />
        <span className="numbers">{index + 1}</span>
      </button>
      <span className={css['verdict']} data-action={rule.action}>
        {w.actions[rule.action] ?? rule.action}
      </span>
      <span className={css['what']}>
        {w.directions[rule.direction]} · {whatOf(rule)}
        <span className={css['who']}>{whoOf(rule)}</span>
      </span>
      <span className={css['note']}>
        {mark && <span className={css['mark']}>{w.marks[mark]}</span>}
        {rule.description}
      </span>
      <span className={css['tools']}>
        <ActionIcon variant="subtle" color="gray" aria-label={w.editRule(index + 1)} onClick={onEdit} title={w.editRule(index + 1)}>
          <Icon name="edit" size={16} />
        </ActionIcon>
        <ActionIcon variant="subtle" color="gray" aria-label={w.deleteRule(index + 1)} onClick={onDelete} title={w.deleteRule(index + 1)}>
          <Icon name="trash" size={16} />
        </ActionIcon>
      </span>
    </li>
  )
}
