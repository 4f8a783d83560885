import { TextInput } from '@mantine/core'
import type { Project } from '@berth/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { switchAccount } from '../../api/account.ts'
import { berth } from '../../api/berth.ts'
import { useWrite } from '../../api/client.ts'
import { fieldError } from '../../api/errors.ts'
import { sessionQuery } from '../../api/session.ts'
import { budgetMessages, commonMessages, projectMessages as w } from '../../words/words.ts'
import { projectsQuery } from '../../queries/projects.ts'
import { BudgetFields, BudgetLeft, ChangeBudget, NO_BUDGET, toBudget } from '../../ui/Budget.tsx'
import { ConfirmDialog, Dialog } from '../../ui/Dialogs.tsx'
import { Form } from '../../ui/Form.tsx'
import { ListPage, rowActions } from '../../ui/ListPage.tsx'
import { usePaging } from '../../ui/paging.ts'
import { RenameDialog } from '../../ui/Rename.tsx'
import type { Column } from '../../ui/Table.tsx'
import { Time } from '../../ui/Time.tsx'

type Open = { what: 'create' } | { what: 'rename' | 'budget' | 'delete'; project: Project } | null

/** What changes them changes also where one can switch to. */
const INVALIDATES = ['projects', 'session']

export default function Projects() {
  const [open, setOpen] = useState<Open>(null)
  const close = (): void => setOpen(null)
  const { search } = usePaging()
  const projects = useQuery(projectsQuery({ page: search.page, limit: search.limit }))
  const within = useQuery(sessionQuery).data?.accounts ?? []
  const columns: Column<Project>[] = [
    {
      head: commonMessages.name,
      sort: 'name',
      value: ({ name }) => name,
      truncate: ({ name }) => name,
      cell: ({ name }) => <strong>{name}</strong>,
    },
    { head: w.vms, sort: 'vms', value: ({ vmCount }) => vmCount, cell: ({ vmCount }) => vmCount },
    { head: budgetMessages.budget, cell: ({ budget }) => <BudgetLeft budget={budget} /> },
    {
      head: commonMessages.created,
      sort: 'createdAt',
      value: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <Time at={createdAt} as="date" />,
    },
    rowActions((project) => [
      ...(within.some(({ id }) => id === project.id) ? [{ label: w.switchTo, onClick: () => switchAccount(project.id) }] : []),
      { label: commonMessages.rename, onClick: () => setOpen({ what: 'rename', project }) },
      { label: budgetMessages.change, onClick: () => setOpen({ what: 'budget', project }) },
      { label: w.delete, onClick: () => setOpen({ what: 'delete', project }), danger: true },
    ]),
  ]
  return (
    <ListPage
      words={w}
      icon="layout"
      list="projects"
      create={{ label: w.create, onClick: () => setOpen({ what: 'create' }) }}
      of={projects}
      columns={columns}
      all={() => berth.projects.list()}
    >
      {open?.what === 'create' && <CreateProject onClose={close} />}
      {open?.what === 'rename' && (
        <RenameDialog
          title={w.rename(open.project.name)}
          name={open.project.name}
          write={(name) => berth.projects.update(open.project.id, { name })}
          invalidates={INVALIDATES}
          onClose={close}
        />
      )}
      {open?.what === 'budget' && (
        <ChangeBudget
          name={open.project.name}
          budget={open.project.budget}
          save={(budget) => berth.projects.update(open.project.id, { budget })}
          invalidates={INVALIDATES}
          onClose={close}
        />
      )}
      {open?.what === 'delete' && <DeleteProject project={open.project} onClose={close} />}
    </ListPage>
  )
}

function CreateProject({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [budget, setBudget] = useState(NO_BUDGET)
  const create = useWrite(() => berth.projects.create({ name, budget: toBudget(budget) }), {
    inForm: true,
    invalidates: INVALIDATES,
    successMessage: (project) => w.created(project.name),
    onDone: onClose,
  })
  return (
    <Dialog title={w.create} onClose={onClose}>
      <Form onSubmit={() => create.mutate()} busy={create.isPending} error={create.error} submit={w.create} onCancel={onClose}>
        <TextInput
          label={commonMessages.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={fieldError(create.error, 'name')}
          maxLength={100}
          data-autofocus
        />
        <BudgetFields value={budget} onChange={setBudget} error={create.error} />
      </Form>
    </Dialog>
  )
}

function DeleteProject({ project, onClose }: { project: Project; onClose: () => void }) {
  const write = useWrite(() => berth.projects.delete(project.id), {
    inForm: true,
    invalidates: INVALIDATES,
    successMessage: w.deleted(project.name),
  })
  return (
    <ConfirmDialog title={w.deleteTitle} submit={w.delete} write={write} onClose={onClose}>
      {w.deleteAbout(project.name)}
    </ConfirmDialog>
  )
}
