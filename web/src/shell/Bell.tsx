import { Icon } from '../ui/Icon.tsx'
import css from './notifications.module.css'

export const Bell = ({ unread = 0 }: { unread?: number }) => (
  <>
    <Icon name="bell" size={20} />
    {unread > 0 && (
      <span className={css['count']} aria-hidden="true">
        {unread > 9 ? '9+' : unread}
      </span>
    )}
  </>
)
