import { Button, Divider } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { goToProvider, type Errand } from '../../api/identities.ts'
import { useWrite } from '../../api/client.ts'
import { setupQuery } from '../../api/session.ts'
import { ErrorAlert } from '../../ui/Form.tsx'
import { Stack } from '../../ui/Page.tsx'
import { signInMessages as w } from '../../words/words.ts'

/** Nothing where the operator has added no provider. */
export function ProviderButtons({ next = '/', invitation }: Partial<Pick<Errand, 'next' | 'invitation'>>) {
  const providers = useQuery(setupQuery).data?.identityProviders ?? []
  const go = useWrite((provider: string) => goToProvider({ purpose: 'signIn', provider, next, ...(invitation && { invitation }) }), {
    inForm: true,
  })
  if (providers.length === 0) return null
  return (
    <Stack gap={10}>
      <Divider mt="md" label={w.or} />
      <ErrorAlert error={go.error} />
      {providers.map(({ name, title }) => (
        <Button key={name} variant="default" fullWidth loading={go.isPending && go.variables === name} onClick={() => go.mutate(name)}>
          {w.signInWith(title)}
        </Button>
      ))}
    </Stack>
  )
}
