// Some writes need a password that was given just now. They are refused first; then the reader is asked, and they are sent again.
import { hasCode } from './errors.ts'

type PasswordPrompt = () => Promise<boolean>
let promptForPassword: PasswordPrompt = () => Promise.resolve(false)

/** The dialog of the shell puts itself here. */
export function setPasswordPrompt(prompt: PasswordPrompt): () => void {
  promptForPassword = prompt
  return () => {
    promptForPassword = () => Promise.resolve(false)
  }
}

export async function withReauthentication<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!hasCode(error, 'reauthentication_required') || !(await promptForPassword())) throw error
    return work()
  }
}
