import { TextInput, type TagsInputProps } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../api/client.ts'
import { fieldError } from '../api/errors.ts'
import { commonMessages, labelMessages as w } from '../words/words.ts'
import { Dialog } from './Dialogs.tsx'
import { Form } from './Form.tsx'
import { later } from './later/later.tsx'
import { usePaging } from './paging.ts'
import css from './labels.module.css'

type Labels = Record<string, string>

const toText = ([key, value]: [string, string]): string => (value === '' ? key : `${key}=${value}`)
export const toTexts = (labels: Labels): string[] => Object.entries(labels).map(toText)

/** A text without `=` is a label without a value. */
export const readLabels = (texts: string[]): Labels =>
  Object.fromEntries(
    texts.map((text) => {
      const [key, ...value] = text.split('=')
      return [key!.trim(), value.join('=').trim()]
    }),
  )

interface TagsProps {
  labels: Labels
  /** Each is a button then. */
  onChoose?: (text: string) => void
}

export function LabelTags({ labels, onChoose }: TagsProps) {
  const texts = toTexts(labels)
  if (texts.length === 0) return null
  return (
    <div className={css['chips']}>
      {texts.map((text) =>
        onChoose ? (
          <button key={text} type="button" className={css['chip']} title={w.filterBy(text)} onClick={() => onChoose(text)}>
            {text}
          </button>
        ) : (
          <span key={text} className={css['chip']} title={text}>
            {text}
          </span>
        ),
      )}
    </div>
  )
}

/** Each filters the list by itself. */
export function LabelChips({ labels }: { labels: Labels }) {
  const { filter } = usePaging()
  return <LabelTags labels={labels} onChoose={(text) => filter({ labels: text })} />
}

/** A selector in the URL: `env=prod,!old`. It holds from Enter on. */
export function LabelFilter() {
  const { search, filter } = usePaging()
  return <LabelFilterInput key={search.labels ?? ''} initial={search.labels ?? ''} onFilter={(labels) => filter({ labels })} />
}

function LabelFilterInput({ initial, onFilter }: { initial: string; onFilter: (labels: string | undefined) => void }) {
  const [text, setText] = useState(initial)
  const apply = (): void => {
    if (text.trim() !== initial) onFilter(text.trim() || undefined)
  }
  return (
    <TextInput
      aria-label={w.filter}
      placeholder={w.filterHint}
      title={w.filterAbout}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
      maxLength={1_000}
      spellCheck={false}
    />
  )
}

interface InputProps {
  texts: string[]
  onChange: (texts: string[]) => void
  error: unknown
}

const TagsInput = later<TagsInputProps>(() => import('./later/tags-input.ts'))

export const LabelsInput = ({ texts, onChange, error }: InputProps) => (
  <TagsInput
    label={w.labels}
    description={w.about}
    placeholder={w.hint}
    value={texts}
    onChange={onChange}
    acceptValueOnBlur
    splitChars={[',', ' ']}
    error={fieldError(error, 'labels')}
  />
)

interface FormProps {
  labels: Labels
  write: (labels: Labels) => Promise<unknown>
  invalidates: string[]
  onDone?: () => void
}

/** Mount it anew where the labels have changed elsewhere. */
export function LabelsForm({ labels, write, invalidates, onDone }: FormProps) {
  const [texts, setTexts] = useState(toTexts(labels))
  const save = useWrite(() => write(readLabels(texts)), {
    inForm: true,
    invalidates,
    successMessage: commonMessages.saved,
    ...(onDone && { onDone }),
  })
  return (
    <Form
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      error={save.error}
      submit={commonMessages.save}
      {...(onDone && { onCancel: onDone })}
    >
      <LabelsInput texts={texts} onChange={setTexts} error={save.error} />
    </Form>
  )
}

/** For a row of a list. */
export const LabelsDialog = ({ name, onClose, ...form }: Omit<FormProps, 'onDone'> & { name: string; onClose: () => void }) => (
  <Dialog title={w.of(name)} onClose={onClose}>
    <LabelsForm {...form} onDone={onClose} />
  </Dialog>
)
