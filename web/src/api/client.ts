// The query cache. The SDK retries what is safe to retry, so the query client does not.
import { QueryCache, QueryClient, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import { toast } from '../ui/toasts.ts'
import { hasCode, errorMessage } from './errors.ts'
import { withReauthentication } from './reauthenticate.ts'
import { recordAnswer } from './server-health.ts'

/** Any response can reveal that the session has expired, or that nothing can be done in the account any more. */
const clearEndedSession = (error: unknown): void => {
  if (hasCode(error, 'unauthorized')) queryClient.setQueryData(['session'], null)
  if (hasCode(error, 'account_required', 'two_factor_required')) void queryClient.invalidateQueries({ queryKey: ['session'] })
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, query) => {
      recordAnswer(query, error)
      clearEndedSession(error)
    },
    onSuccess: (_, query) => recordAnswer(query, null),
  }),
  defaultOptions: { queries: { retry: false, staleTime: 1_000, refetchOnWindowFocus: true } },
})

export interface WriteOptions<Input, Output> {
  /** First element of the query keys to refetch. */
  invalidates?: string[]
  /** Text of the toast after success. */
  successMessage?: string | ((output: Output, input: Input) => string)
  onDone?: (output: Output, input: Input) => unknown
  /** Forms render errors themselves; everything else shows them in a toast. */
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
