import { ActionIcon, CopyButton as MantineCopyButton } from '@mantine/core'
import { commonMessages as w } from '../words/words.ts'
import { Icon } from './Icon.tsx'
import css from './copy-button.module.css'

export const CopyButton = ({ text, what }: { text: string; what: string }) => (
  <MantineCopyButton value={text}>
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
  </MantineCopyButton>
)

export const Copyable = ({ text, what }: { text: string; what: string }) => (
  <span className={css['copyable']}>
    <code>{text}</code>
    <CopyButton text={text} what={what} />
  </span>
)

export const Code = ({ text, what }: { text: string; what: string }) => (
  <div className={css['code']}>
    <pre tabIndex={0} aria-label={what}>
      {text}
    </pre>
    <span className={css['corner']}>
      <CopyButton text={text} what={what} />
    </span>
  </div>
)
