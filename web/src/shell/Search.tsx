// The search of the top bar: a button, Ctrl K, and a dialog that is loaded once the page has nothing else to do.
import { useDisclosure, useHotkeys } from '@mantine/hooks'
import type { Session } from '../api/session.ts'
import { Icon } from '../ui/Icon.tsx'
import { later } from '../ui/later/later.tsx'
import { shellMessages } from '../words/words.ts'
import css from './search.module.css'

const w = shellMessages.search

const SearchDialog = later(() => import('./SearchDialog.tsx'))

/** Where these keys are typed into a guest, or lines of text, they stay there. */
const KEEP_THEIR_KEYS = ['TEXTAREA', 'CANVAS']

export function Search({ session }: { session: Session }) {
  const [opened, { open, close }] = useDisclosure(false)
  useHotkeys([['mod+K', open]], KEEP_THEIR_KEYS)
  return (
    <>
      <button type="button" className={css['open']} aria-haspopup="dialog" aria-keyshortcuts="Control+K Meta+K" onClick={open}>
        <Icon name="search" />
        <span className={css['word']}>{w.open}</span>
        <kbd aria-hidden="true">{/Mac|iPhone|iPad/.test(navigator.platform) ? w.keyOfMac : w.key}</kbd>
      </button>
      {opened && <SearchDialog session={session} onClose={close} />}
    </>
  )
}
