import { ActionIcon } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { commonMessages as w } from '../words/words.ts'
import { Icon } from './Icon.tsx'
import css from './toasts.module.css'
import { dismiss, toastStore } from './toasts.ts'

export function Toasts() {
  const toasts = useSyncExternalStore(toastStore.subscribe, toastStore.current)
  return (
    <section className={css['toasts']} aria-label={w.notifications} aria-live="polite">
      {toasts.map(({ id, kind, message }) => (
        <div key={id} className={css['toast']} data-kind={kind} role={kind === 'failed' ? 'alert' : 'status'}>
          <Icon name={kind === 'done' ? 'check' : 'warning'} />
          <span className={css['sentence']}>{message}</span>
          <ActionIcon variant="subtle" color="gray" size="sm" aria-label={w.dismiss} onClick={() => dismiss(id)}>
            <Icon name="cross" size={14} />
          </ActionIcon>
        </div>
      ))}
    </section>
  )
}
