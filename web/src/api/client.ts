// One cache of what the server said. The SDK repeats what may be repeated, so this does not.
import { QueryCache, QueryClient, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import { toast } from '../ui/toasts.ts'
import { hasCode, errorMessage } from './errors.ts'
import { withReauthentication } from './reauthenticate.ts'

/** A session that has ended shows in any answer. */
const clearEndedSession = (error: unknown): void => {
  if (hasCode(error, 'unauthorized')) queryClient.setQueryData(['session'], null)
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: clearEndedSession }),
  defaultOptions: { queries: { retry: false, staleTime: 1_000, refetchOnWindowFocus: true } },
})

export interface WriteOptions<Input, Output> {
  /** The first words of the queries that show what was changed. */
  invalidates?: string[]
  /** What the reader is told afterwards. */
  successMessage?: string | ((output: Output, input: Input) => string)
  onDone?: (output: Output, input: Input) => unknown
  /** A form shows its errors itself; anything else tells them in a toast. */
  inForm?: boolean
}

export type Write<Input, Output> = UseMutationResult<Output, Error, Input>

export function useWrite<Input = void, Output = unknown>(
  write: (input: Input) => Promise<Output>,
  { invalidates = [], successMessage, onDone, inForm = false }: WriteOptions<Input, Output> = {},
): Write<Input, Output> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => withReauthentication(() => write(input)),
    onSuccess: async (output, input) => {
      if (successMessage !== undefined) toast.success(typeof successMessage === 'string' ? successMessage : successMessage(output, input))
      await onDone?.(output, input)
      await Promise.all(invalidates.map((key) => client.invalidateQueries({ queryKey: [key] })))
    },
    onError: (error) => {
      clearEndedSession(error)
      if (!inForm) toast.error(errorMessage(error))
    },
  })
}
