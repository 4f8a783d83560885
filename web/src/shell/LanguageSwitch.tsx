import { NativeSelect } from '@mantine/core'
import { chooseLanguage, language, LANGUAGES } from '../words/language.ts'
import { shellMessages as w } from '../words/words.ts'

export const LanguageSwitch = () => (
  <NativeSelect size="xs" aria-label={w.language} value={language} onChange={(event) => chooseLanguage(event.currentTarget.value)}>
    {Object.entries(LANGUAGES).map(([value, name]) => (
      <option key={value} value={value} lang={value}>
        {name}
      </option>
    ))}
  </NativeSelect>
)
