import { Button } from '@mantine/core'
import { Empty } from '../ui/AsyncState.tsx'
import { commonMessages as w } from '../words/words.ts'

/** Error boundary of a screen; the shell around it keeps working. */
export const ErrorPage = ({ error }: { error: unknown }) => {
  console.error(error)
  const reload = <Button onClick={() => location.reload()}>{w.reload}</Button>
  return <Empty level={1} icon="warning" title={w.loadFailed} about={w.pageError} action={reload} />
}
