import { ActionIcon, CopyButton } from '@mantine/core'
import { commonWords as w } from '../messages/common.ts'
import { Icon } from './Icon.tsx'
import css from './copy-button.module.css'

export const Copy = ({ text, what }: { text: string; what: string }) => (
  <CopyButton value={text}>
    {({ copied, copy }) => (
      <ActionIcon
        variant="subtle"
        color="gray"
        size="sm"
        onClick={copy}
        aria-label={copied ? w.copied : w.copyOf(what)}
        title={w.copyOf(what)}
      >
        <Icon name={copied ? 'check' : 'copy'} size={15} />
      </ActionIcon>
    )}
  </CopyButton>
)

export const Copyable = ({ text, what }: { text: string; what: string }) => (
  <span className={css['copyable']}>
    <code>{text}</code>
    <Copy text={text} what={what} />
  </span>
)

export const Code = ({ text, what }: { text: string; what: string }) => (
  <div className={css['code']}>
    <pre tabIndex={0} aria-label={what}>
      {text}
    </pre>
    <span className={css['corner']}>
      <Copy text={text} what={what} />
    </span>
  </div>
)
