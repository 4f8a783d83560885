// What the provider announces now, above every screen, until it is dismissed in this browser.
import { useQuery } from '@tanstack/react-query'
import { announcementsQuery } from '../queries/account.ts'
import { Icon } from '../ui/Icon.tsx'
import { announcementMessages as w } from '../words/words.ts'
import css from './announcements.module.css'
import { dismiss, useDismissed } from './dismissed.ts'

export default function Announcements() {
  const dismissed = useDismissed()
  const shown = (useQuery(announcementsQuery).data ?? []).filter(({ id }) => !dismissed.includes(id))
  if (shown.length === 0) return null
  return (
    <section className={css['list']} aria-label={w.region}>
      {shown.map(({ id, level, text }) => (
        <Announcement key={id} level={level} text={text} onDismiss={() => dismiss(id)} />
      ))}
    </section>
  )
}

export const Announcement = ({ level, text, onDismiss }: { level: keyof typeof w.levels; text: string; onDismiss?: () => void }) => (
  <div className={css['announcement']} data-level={level}>
    <Icon name={level === 'INFO' ? 'pulse' : 'warning'} size={18} />
    <p>
      <strong>{w.levels[level]}</strong> {text}
    </p>
    {onDismiss && (
      <button type="button" aria-label={w.dismiss} onClick={onDismiss}>
        <Icon name="cross" size={16} />
      </button>
    )}
  </div>
)
