import { Button } from '@mantine/core'
import { commonWords as w } from '../words/common.ts'
import { Empty } from '../ui/States.tsx'
import { ButtonLink } from '../ui/links.tsx'

/** A screen that broke takes nothing else with it: the shell around it stays. */
export const Broken = ({ error }: { error: unknown }) => {
  console.error(error)
  return (
    <Empty
      icon="warning"
      title={w.failedTitle}
      about={w.brokenPage}
      action={<Button onClick={() => location.reload()}>{w.reload}</Button>}
    />
  )
}

export const NotFound = () => (
  <Empty icon="warning" title={w.notFoundTitle} about={w.notFound} action={<ButtonLink to="/">{w.home}</ButtonLink>} />
)
