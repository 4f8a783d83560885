// One cache of what the server said. The SDK repeats what may be repeated, so this does not.
import { QueryCache, QueryClient, useMutation, useQueryClient, type UseMutationResult } from '@tanstack/react-query'
import { toast } from '../ui/toasts.ts'
import { isCode, sentenceOf } from './errors.ts'
import { withPassword } from './reauthenticate.ts'

/** A session that has ended shows in any answer. */
const forgetEndedSession = (error: unknown): void => {
  if (isCode(error, 'unauthorized')) queryClient.setQueryData(['session'], null)
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: forgetEndedSession }),
  defaultOptions: { queries: { retry: false, staleTime: 1_000, refetchOnWindowFocus: true } },
})

export interface WriteOptions<Input, Output> {
  /** The first words of the queries that show what was changed. */
  changes?: string[]
  /** What the reader is told afterwards. */
  says?: string | ((output: Output, input: Input) => string)
  after?: (output: Output, input: Input) => unknown
  /** A form shows its errors itself; anything else tells them in a toast. */
  inForm?: boolean
}

export type Write<Input, Output> = UseMutationResult<Output, Error, Input>

export function useWrite<Input = void, Output = unknown>(
  write: (input: Input) => Promise<Output>,
  { changes = [], says, after, inForm = false }: WriteOptions<Input, Output> = {},
): Write<Input, Output> {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => withPassword(() => write(input)),
    onSuccess: async (output, input) => {
      if (says !== undefined) toast.done(typeof says === 'string' ? says : says(output, input))
      await after?.(output, input)
      await Promise.all(changes.map((key) => client.invalidateQueries({ queryKey: [key] })))
    },
    onError: (error) => {
      forgetEndedSession(error)
      if (!inForm) toast.failed(sentenceOf(error))
    },
  })
}
