import type { CreateQuote } from '@berth/sdk'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { berth } from '../../api/berth.ts'
import { isPriceable, toRequest, type VmForm } from './vm-form.ts'

/** The price does not depend on the hostname, and is shown before one is typed. */
const ANY_HOSTNAME = 'vm'

/** Price from a dry run of the exact request: validation and placement run, nothing changes. Neither is given while the form changes. */
export function useQuote(form: VmForm): { price: CreateQuote | undefined; refusal: Error | null } {
  const [settled] = useDebouncedValue(form, 300)
  const request = toRequest({ ...settled, hostname: settled.hostname || ANY_HOSTNAME })
  const quote = useQuery({
    queryKey: ['quote', request],
    queryFn: ({ signal }) => berth.vms.quoteCreate(request, { signal, maxRetries: 1 }),
    enabled: isPriceable(settled),
    staleTime: 10_000,
    gcTime: 0, // a revisited form gets a fresh price
  })
  return settled === form ? { price: quote.data, refusal: quote.error } : { price: undefined, refusal: null }
}
