import { useEffect, type ReactNode } from 'react'
import { Brand } from '../../shell/Brand.tsx'
import { hasProviderLinks, ProviderLinks } from '../../shell/ProviderLinks.tsx'
import { LanguageSwitch } from '../../shell/LanguageSwitch.tsx'
import { ThemeToggle } from '../../shell/account-controls.tsx'
import { titleOf } from '../../skin.ts'
import { signInMessages as w } from '../../words/words.ts'
import css from './auth-layout.module.css'

interface Props {
  title: string
  about?: ReactNode
  children: ReactNode
  below?: ReactNode
}

export function AuthLayout({ title, about, children, below }: Props) {
  useEffect(() => {
    document.title = titleOf(title)
  }, [title])
  return (
    <div className={css['frame']}>
      <header className={css['top']}>
        <Brand size={30} />
        <div className={css['choices']}>
          <LanguageSwitch />
          <ThemeToggle />
        </div>
      </header>
      <main className={css['main']}>
        <div className={css['panel']}>
          <h1 className={css['title']}>{title}</h1>
          {about && <p className={css['about']}>{about}</p>}
          {children}
        </div>
        {below && <div className={css['below']}>{below}</div>}
      </main>
      <footer className={css['foot']}>{hasProviderLinks ? <ProviderLinks className={css['link']} /> : w.tagline}</footer>
    </div>
  )
}
