// A button of the top bar and the panel that it opens. The panel is the browser's own popover: above everything, closed by Escape and by a click
// elsewhere, with the focus back on the button. Its content is there only while it is open.
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import css from './flyout.module.css'

interface Props {
  /** Of the panel, and what the button is called after its content, for screen readers. */
  label: string
  button: ReactNode
  children: (close: () => void) => ReactNode
  onOpen?: () => void
  wide?: boolean
}

export function Flyout({ label, button, children, onOpen, wide = false }: Props) {
  const id = useId()
  const panel = useRef<HTMLElement>(null)
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    const element = panel.current!
    const toggle = (event: ToggleEvent): void => {
      setOpened(event.newState === 'open')
      if (event.newState === 'open') onOpen?.()
    }
    element.addEventListener('beforetoggle', toggle)
    return () => element.removeEventListener('beforetoggle', toggle)
  }, [onOpen])
  return (
    <div className={css['flyout']}>
      <button type="button" className={css['button']} popoverTarget={id} aria-expanded={opened}>
        {button}
        <span className="hidden">{label}</span>
      </button>
      <section id={id} ref={panel} popover="auto" aria-label={label} className={css['panel']} data-wide={wide || undefined}>
        {opened && children(() => document.getElementById(id)?.hidePopover())}
      </section>
    </div>
  )
}
