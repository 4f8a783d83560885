// A console in a window of its own, without the shell.
import { useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Vm } from '@berth/sdk'
import { useLiveUpdates } from '../../live/useLive.ts'
import { vmQuery } from '../../queries/vms.ts'
import { titleOf } from '../../skin.ts'
import { Loaded } from '../../ui/AsyncState.tsx'
import { vmMessages } from '../../words/words.ts'
import { ConsoleView } from './ConsoleView.tsx'
import css from './console.module.css'

export default function ConsoleWindow() {
  const { vmId = '' } = useParams({ strict: false })
  const { kind } = useSearch({ strict: false })
  const vm = useQuery(vmQuery(vmId))
  useLiveUpdates()
  return (
    <main className={css['page']}>
      <Loaded isPage of={vm}>
        {(data) => <Window vm={data} kind={kind === 'vnc' ? 'vnc' : 'serial'} />}
      </Loaded>
    </main>
  )
}

function Window({ vm, kind }: { vm: Vm; kind: 'serial' | 'vnc' }) {
  useEffect(() => {
    document.title = titleOf(vmMessages.console.label(vm.name))
  }, [vm.name])
  return (
    <>
      <h1 className={css['heading']}>{vmMessages.console.label(vm.name)}</h1>
      <ConsoleView vm={vm} isWindow initial={kind} />
    </>
  )
}
