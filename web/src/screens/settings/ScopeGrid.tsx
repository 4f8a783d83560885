import { Button, Checkbox } from '@mantine/core'
import type { Scope } from '../../api/keys.ts'
import { formatConstant } from '../../ui/format.ts'
import { Row } from '../../ui/Page.tsx'
import { settingsMessages } from '../../words/words.ts'
import css from './settings.module.css'

const w = settingsMessages.keys

interface Props {
  scopes: Scope[]
  chosen: ReadonlySet<string>
  onChange: (chosen: ReadonlySet<string>) => void
}

/** One row per resource, one checkbox per scope. */
export function ScopeGrid({ scopes, chosen, onChange }: Props) {
  const resources = Map.groupBy(scopes, ({ resource }) => resource)
  const set = (names: string[], on: boolean): void => {
    const next = new Set(chosen)
    for (const name of names)
      if (on) next.add(name)
      else next.delete(name)
    onChange(next)
  }
  const only = (wanted: Scope[]): void => onChange(new Set(wanted.map(({ scope }) => scope)))
  return (
    <fieldset className={css['scopes']}>
      <legend>{w.scopes}</legend>
      <Row>
        <span className="muted">{w.scopesAbout}</span>
        <Button variant="default" size="compact-sm" onClick={() => only(scopes)}>
          {w.fullAccess}
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => only(scopes.filter(({ verb }) => verb === 'read'))}>
          {w.readOnly}
        </Button>
        <Button variant="default" size="compact-sm" onClick={() => only([])}>
          {w.clear}
        </Button>
      </Row>
      {[...resources].map(([resource, all]) => {
        const title = w.resources[resource] ?? formatConstant(resource)
        const names = all.map(({ scope }) => scope)
        const count = names.filter((name) => chosen.has(name)).length
        return (
          <div key={resource} className={css['scopeRow']}>
            <Checkbox
              label={title}
              aria-label={w.allOf(title)}
              fw={560}
              checked={count === names.length}
              indeterminate={count > 0 && count < names.length}
              onChange={(event) => set(names, event.currentTarget.checked)}
            />
            <div className={css['verbs']}>
              {all.map(({ scope, verb }) => (
                <Checkbox
                  key={scope}
                  size="xs"
                  label={w.verbs[verb] ?? verb}
                  aria-label={scope}
                  checked={chosen.has(scope)}
                  onChange={(event) => set([scope], event.currentTarget.checked)}
                />
              ))}
            </div>
          </div>
        )
      })}
    </fieldset>
  )
}
