import { NativeSelect } from '@mantine/core'
import { apiRequest } from '../api/request.ts'
import { chooseLanguage, language, LANGUAGES } from '../words/language.ts'
import { shellMessages as w } from '../words/words.ts'

/** Mails are written in the same language; where that cannot be told now, the next sign-in tells it. */
async function choose(chosen: string, isSignedIn: boolean): Promise<void> {
  if (isSignedIn) await apiRequest('PATCH', '/user', { language: chosen }).catch(() => {})
  chooseLanguage(chosen)
}

export const LanguageSwitch = ({ isSignedIn = false }: { isSignedIn?: boolean }) => (
  <NativeSelect size="xs" aria-label={w.language} value={language} onChange={(event) => void choose(event.currentTarget.value, isSignedIn)}>
    {Object.entries(LANGUAGES).map(([value, name]) => (
      <option key={value} value={value} lang={value}>
        {name}
      </option>
    ))}
  </NativeSelect>
)
