import { useComputedColorScheme } from '@mantine/core'
import { skin } from '../skin.ts'
import css from './shell.module.css'

/** Of what is not the look of this page, in a preview. */
interface Props {
  size?: number
  look?: Pick<typeof skin, 'name' | 'logo'>
  scheme?: 'light' | 'dark'
}

export function Brand({ size = 26, look = skin, scheme }: Props) {
  const shown = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const { name, logo } = look
  if (logo === null)
    return (
      <span className={css['brand']}>
        <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" fill="#0b6e61" />
          <path
            d="M9 8v12.5a3.5 3.5 0 0 0 3.5 3.5h7a3.5 3.5 0 0 0 3.5-3.5V8"
            fill="none"
            stroke="#fff"
            strokeWidth="3"
            strokeLinecap="round"
          />
          <rect x="13" y="10" width="6" height="8.5" rx="1.8" fill="#ffb38a" />
        </svg>
        {name}
      </span>
    )
  return (
    <span className={css['brand']}>
      <img className={css['logo']} src={logo[scheme ?? shown]} alt={logo.showName ? '' : name} height={size} />
      {logo.showName && name}
    </span>
  )
}
