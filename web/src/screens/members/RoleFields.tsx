import { Radio } from '@mantine/core'
import type { Body } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { scopesQuery } from '../../api/keys.ts'
import { sessionQuery } from '../../api/session.ts'
import { memberMessages as w } from '../../words/words.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { Stack } from '../../ui/Page.tsx'
import { ScopeGrid } from '../settings/ScopeGrid.tsx'

export type Grant = Pick<Body<'createInvitation'>, 'role' | 'scopes'>

const ROLES = Object.keys(w.roles) as Grant['role'][]

export const grantOf = ({ role, scopes }: Grant): Grant => (role === 'custom' ? { role, scopes: scopes ?? [] } : { role })

/** Offers the scopes that the user has, because nobody can give more. Of an account with projects only its owners and admins make admins. */
export function RoleFields({ grant, onChange }: { grant: Grant; onChange: (grant: Grant) => void }) {
  const own = useQuery(sessionQuery).data?.account
  const scopes = useQuery(scopesQuery)
  const mayGive = (role: Grant['role']): boolean => {
    if (role === 'owner') return own?.role === 'owner'
    return role !== 'admin' || role === grant.role || own?.isProject === true || own?.role === 'owner' || own?.role === 'admin'
  }
  return (
    <>
      <Radio.Group label={w.role} value={grant.role} onChange={(role) => onChange({ ...grant, role: role as Grant['role'] })}>
        <Stack gap={8}>
          <div />
          {ROLES.filter(mayGive).map((role) => (
            <Radio key={role} value={role} label={w.roles[role]} description={w.roleAbout[role]} />
          ))}
        </Stack>
      </Radio.Group>
      {grant.role === 'custom' && (
        <Loaded of={scopes}>
          {(all) => (
            <ScopeGrid
              scopes={all.filter(({ scope }) => own?.scopes.includes(scope))}
              chosen={new Set(grant.scopes)}
              onChange={(chosen) => onChange({ ...grant, scopes: [...chosen] })}
            />
          )}
        </Loaded>
      )}
    </>
  )
}
