import { useLocation } from '@tanstack/react-router'
import { shellMessages as w } from '../words/words.ts'
import { guideOf } from './guides.ts'
import { Icon } from './Icon.tsx'
import css from './page.module.css'

/** To the guide that explains the screen, in a tab of its own. */
export function GuideLink() {
  const guide = useLocation({ select: ({ pathname, search }) => guideOf(pathname, (search as { tab?: string }).tab) })
  return (
    guide && (
      <a className={css['guide']} href={guide} target="_blank" rel="noreferrer" hrefLang="en">
        <Icon name="book" size={15} />
        {w.guide}
      </a>
    )
  )
}
