import { ButtonLink } from '../ui/links.tsx'
import { Empty } from '../ui/AsyncState.tsx'
import { commonMessages as w } from '../words/words.ts'

export default function NotFound() {
  return <Empty level={1} icon="warning" title={w.notFoundTitle} about={w.notFound} action={<ButtonLink to="/">{w.home}</ButtonLink>} />
}
