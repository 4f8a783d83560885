import type { AuditEntry } from '@berth/sdk'
import { Fragment } from 'react'
import { TextLink } from '../../ui/links.tsx'
import { auditMessages as w } from '../../words/words.ts'
import css from './audit-log.module.css'
import type { Resource } from './resources.ts'
import { sentenceOf, subjectOf } from './sentence.ts'

interface Props {
  entry: AuditEntry
  /** What still exists. */
  resources: Map<string, Resource>
  /** What other entries call a resource. */
  names: Map<string, string>
}

export const Sentence = ({ entry, resources, names }: Props) => (
  <span className={css['sentence']}>
    {sentenceOf(entry).map((part) => (
      <Fragment key={'text' in part ? part.text : part.slot}>
        {'text' in part ? part.text : part.slot === 'who' ? <Who actor={entry.actor} /> : <What {...{ entry, resources, names }} />}
      </Fragment>
    ))}
  </span>
)

const Who = ({ actor: { type, name } }: Pick<AuditEntry, 'actor'>) => {
  if (type === 'person')
    return (
      <TextLink to="/members" underline="always">
        {name}
      </TextLink>
    )
  if (type === 'token')
    return (
      <>
        {w.actors['token']}{' '}
        <TextLink to="/settings" underline="always">
          {name}
        </TextLink>
      </>
    )
  return <strong>{w.actors[type] ?? name}</strong>
}

/** Linked while it exists; else by the name that it had, or by its id. */
function What({ entry, resources, names }: Props) {
  const id = subjectOf(entry)
  const known = id === undefined ? undefined : resources.get(id)
  if (known)
    return (
      <TextLink to={known.to} underline="always">
        {known.name}
      </TextLink>
    )
  const name = (id === entry.resourceId ? entry.resourceName : null) ?? (id === undefined ? undefined : names.get(id))
  return name ? <strong>{name}</strong> : <code>{id}</code>
}

/** By what way somebody acted, and from where. */
export const Source = ({ entry: { actor, ip, count } }: { entry: AuditEntry }) => {
  const ways = [
    actor.via === 'session' ? w.bySession : actor.via === 'token' && actor.person ? w.byTokenOf(actor.person.name) : null,
    count > 1 ? w.times(count) : null,
  ].filter((way) => way !== null)
  return (
    <span className={css['source']}>
      {ip && (
        <>
          {w.fromAddress} <code>{ip}</code>
          {ways.length > 0 && ' · '}
        </>
      )}
      {ways.join(' · ')}
    </span>
  )
}
