import css from './meter.module.css'

interface Props {
  used: number
  of: number
  label: string
  text?: string
}

/** A usage bar with a warning colour from 80 %. */
export function Meter({ used, of, label, text }: Props) {
  const part = of > 0 ? Math.min(1, used / of) : 0
  const tone = part >= 1 ? 'full' : part >= 0.8 ? 'high' : 'fine'
  return (
    <div className={css['meter']}>
      {text && <span className={css['text']}>{text}</span>}
      <meter className="hidden" min={0} max={100} value={Math.round(part * 100)} aria-label={label} />
      <div className={css['track']} aria-hidden="true">
        <div className={css['fill']} data-tone={tone} style={{ width: `${Math.max(part * 100, used > 0 ? 2 : 0)}%` }} />
      </div>
    </div>
  )
}
