import { Skeleton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Icon, type IconName } from '../../ui/Icon.tsx'
import { commonMessages } from '../../words/words.ts'
import css from './home.module.css'

interface Props {
  to: string
  icon: IconName
  label: string
  value?: string
  about?: string
  error: boolean
}

export const Tile = ({ to, icon, label, value, about, error }: Props) => (
  <Link to={to} className={css['tile']}>
    <span className={css['tileHead']}>
      <Icon name={icon} />
      {label}
    </span>
    <span className={css['value']}>{value ?? (error ? commonMessages.unknown : <Skeleton height={26} width={90} />)}</span>
    <span className={css['about']}>{about ?? ' '}</span>
  </Link>
)
