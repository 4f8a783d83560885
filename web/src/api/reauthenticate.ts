// Some writes need a recently entered password. The server rejects them, the user enters the password, and the write is sent again.
import { hasCode } from './errors.ts'

type PasswordPrompt = () => Promise<boolean>
let promptForPassword: PasswordPrompt = () => Promise.resolve(false)

/** Registered by the dialog of the shell. */
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
