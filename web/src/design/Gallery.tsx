// Every part of the dashboard on one page, in development builds only: http://localhost:5173/design of `npx vite web`.
import { Alert, Button, Checkbox, NativeSelect, PasswordInput, Radio, Switch, Textarea, TextInput } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { Empty, LoadError, Loading } from '../ui/AsyncState.tsx'
import { Code, Copyable } from '../ui/CopyButton.tsx'
import { ConfirmDialog, Dialog, SecretDialog } from '../ui/Dialogs.tsx'
import { Form } from '../ui/Form.tsx'
import { Icon, type IconName } from '../ui/Icon.tsx'
import { LabelTags } from '../ui/Labels.tsx'
import { Meter } from '../ui/Meter.tsx'
import { Card, Columns, Facts, Page, Row, Stack } from '../ui/Page.tsx'
import { RowMenu } from '../ui/RowMenu.tsx'
import { Status, type Tone } from '../ui/Status.tsx'
import { Steps } from '../ui/Steps.tsx'
import { Table, type Column } from '../ui/Table.tsx'
import css from './gallery.module.css'
import * as s from './specimens.ts'

export default function Gallery() {
  return (
    <main className={css['page']}>
      <Page title={s.TITLE} about={s.ABOUT} actions={<Themes />}>
        <Part name="type" title={s.PARTS.type}>
          {s.TEXT_SIZES.map((size) => (
            <p key={size} className={css['specimen']} style={{ fontSize: `var(--text-${size})` }}>
              <code>{variable('text', size)}</code> {s.PANGRAM}
            </p>
          ))}
          <Row gap={20}>
            {s.WEIGHTS.map((weight) => (
              <span key={weight} style={{ fontWeight: `var(--weight-${weight})` }}>
                {weight}
              </span>
            ))}
            <span className="numbers">{s.NUMBERS}</span>
            <code>{s.MONO}</code>
          </Row>
        </Part>
        <Part name="colours" title={s.PARTS.colours}>
          <div className={css['swatches']}>
            {s.COLOURS.map((colour) => (
              <Swatch key={colour} name={colour} />
            ))}
          </div>
          {s.PALETTES.map((palette) => (
            <div key={palette} className={css['palette']}>
              {Array.from({ length: 10 }, (_, shade) => (
                <span key={shade} style={{ background: `var(--${palette}-${shade})` }} title={`--${palette}-${shade}`} />
              ))}
            </div>
          ))}
        </Part>
        <Part name="space" title={s.PARTS.space}>
          <Row gap={16}>
            {s.SPACES.map((step) => (
              <span key={step} className={css['space']}>
                <i style={{ width: `var(--space-${step})` }} />
                <code>{step}</code>
              </span>
            ))}
          </Row>
          <Row gap={16}>
            {s.RADII.map((radius) => (
              <span key={radius} className={css['radius']} style={{ borderRadius: `var(--radius-${radius})` }}>
                {radius}
              </span>
            ))}
            {s.SHADOWS.map((shadow) => (
              <span key={shadow} className={css['radius']} style={{ boxShadow: `var(--shadow-${shadow})` }}>
                {shadow}
              </span>
            ))}
            {s.MOTIONS.map((motion) => (
              <button key={motion} type="button" className={css['motion']} style={{ transitionDuration: `var(--motion${motion})` }}>
                {variable('motion', motion)}
              </button>
            ))}
          </Row>
        </Part>
        <Part name="buttons" title={s.PARTS.buttons}>
          <Row gap={12}>
            <Button>{s.BUTTONS.primary}</Button>
            <Button leftSection={<Icon name="plus" size={16} />}>{s.BUTTONS.create}</Button>
            <Button variant="default">{s.BUTTONS.secondary}</Button>
            <Button variant="light">{s.BUTTONS.light}</Button>
            <Button variant="subtle">{s.BUTTONS.quiet}</Button>
            <Button color="red">{s.BUTTONS.danger}</Button>
            <Button disabled>{s.BUTTONS.disabled}</Button>
            <Button size="xs" variant="default">
              {s.BUTTONS.small}
            </Button>
            <RowMenu name={s.BUTTONS.menu} items={s.MENU.map((label) => ({ label, onClick: () => {}, danger: label === s.MENU.at(-1) }))} />
          </Row>
        </Part>
        <Part name="fields" title={s.PARTS.fields}>
          <Columns>
            <TextInput label={s.FIELDS.name} description={s.FIELDS.about} placeholder={s.FIELDS.hint} />
            <TextInput label={s.FIELDS.name} defaultValue={s.FIELDS.wrong} error={s.FIELDS.error} />
            <NativeSelect label={s.FIELDS.choice} data={s.FIELDS.choices} />
            <PasswordInput label={s.FIELDS.password} defaultValue={s.FIELDS.wrong} />
            <Textarea label={s.FIELDS.text} defaultValue={s.PANGRAM} />
            <Stack gap={10}>
              <Checkbox label={s.FIELDS.check} defaultChecked />
              <Switch label={s.FIELDS.switch} defaultChecked />
              <Radio label={s.FIELDS.radio} defaultChecked />
              <TextInput aria-label={s.FIELDS.off} defaultValue={s.FIELDS.off} disabled />
            </Stack>
          </Columns>
        </Part>
        <Part name="statuses" title={s.PARTS.statuses}>
          <Row gap={24}>
            {Object.entries(s.STATUSES).map(([tone, name]) => (
              <Status key={tone} tone={tone as Tone}>
                {name}
              </Status>
            ))}
          </Row>
          <LabelTags labels={s.LABELS} />
          <Columns>
            <Steps steps={s.STEPS} />
            <Stack gap={12}>
              {s.METERS.map((used) => (
                <Meter key={used} used={used} of={100} label={s.PARTS.statuses} text={`${used} %`} />
              ))}
            </Stack>
          </Columns>
        </Part>
        <Part name="tables" title={s.PARTS.tables} flush>
          <Table caption={s.PARTS.tables} columns={COLUMNS} rows={s.ROWS} rowKey={({ name }) => name} />
        </Part>
        <Part name="cards" title={s.PARTS.cards}>
          <Columns>
            <Card title={s.CARD.title} about={s.CARD.about} actions={<Button size="xs">{s.BUTTONS.small}</Button>}>
              <Facts facts={s.FACTS} />
            </Card>
            <Card title={s.CARD.danger} tone="danger">
              <Copyable text={s.ADDRESS} what={s.CARD.title} />
              <Code text={s.COMMAND} what={s.CARD.title} />
            </Card>
          </Columns>
        </Part>
        <Part name="alerts" title={s.PARTS.alerts}>
          <Stack gap={12}>
            {s.ALERTS.map(({ colour, text }) => (
              <Alert key={colour} color={colour}>
                {text}
              </Alert>
            ))}
          </Stack>
        </Part>
        <Part name="states" title={s.PARTS.states}>
          <Columns>
            <Loading />
            <Empty icon="server" title={s.EMPTY.title} about={s.EMPTY.about} action={<Button>{s.BUTTONS.create}</Button>} />
            <LoadError error={new Error(s.EMPTY.about)} retry={() => {}} />
          </Columns>
        </Part>
        <Part name="icons" title={s.PARTS.icons}>
          <Row gap={18}>
            {s.ICONS.map((name) => (
              <span key={name} title={name}>
                <Icon name={name as IconName} size={22} />
              </span>
            ))}
          </Row>
        </Part>
        <Dialogs />
      </Page>
    </main>
  )
}

const variable = (kind: string, step: string): string => `--${kind}${step && `-${step.replace(/^-/, '')}`}`

const COLUMNS: Column<(typeof s.ROWS)[number]>[] = [
  { head: s.HEADS.name, truncate: ({ name }) => name, cell: ({ name }) => name },
  { head: s.HEADS.status, cell: ({ tone, status }) => <Status tone={tone}>{status}</Status> },
  { head: s.HEADS.address, cell: ({ address }) => <Copyable text={address} what={s.HEADS.address} /> },
  { head: s.HEADS.price, right: true, cell: ({ price }) => <span className="numbers">{price}</span> },
]

const Part = ({ name, title, flush = false, children }: { name: string; title: string; flush?: boolean; children: ReactNode }) => (
  <div id={name}>
    <Card title={title} flush={flush}>
      {flush ? children : <Stack gap={16}>{children}</Stack>}
    </Card>
  </div>
)

const Swatch = ({ name }: { name: string }) => (
  <span className={css['swatch']}>
    <i style={{ background: `var(--${name})` }} />
    <code>{name}</code>
  </span>
)

function setOnRoot(key: 'mantineColorScheme' | 'area', value: string): void {
  document.documentElement.dataset[key] = value
}

function Themes() {
  return (
    <>
      {s.THEMES.map((theme) => (
        <Button key={theme} variant="default" size="xs" onClick={() => setOnRoot('mantineColorScheme', theme)}>
          {theme}
        </Button>
      ))}
      {s.AREAS.map((area) => (
        <Button key={area} variant="default" size="xs" onClick={() => setOnRoot('area', area)}>
          {area}
        </Button>
      ))}
    </>
  )
}

function Dialogs() {
  const [open, setOpen] = useState<string | null>(null)
  const close = (): void => setOpen(null)
  const write = { mutate: close, isPending: false, error: null } as never
  return (
    <Part name="dialogs" title={s.PARTS.dialogs}>
      <Row gap={12}>
        {s.DIALOGS.map((name) => (
          <Button key={name} variant="default" onClick={() => setOpen(name)}>
            {name}
          </Button>
        ))}
      </Row>
      {open === s.DIALOGS[0] && (
        <Dialog title={s.CARD.title} onClose={close}>
          <Form onSubmit={close} busy={false} error={null} submit={s.BUTTONS.primary} onCancel={close}>
            <TextInput label={s.FIELDS.name} description={s.FIELDS.about} data-autofocus />
          </Form>
        </Dialog>
      )}
      {open === s.DIALOGS[1] && (
        <ConfirmDialog title={s.CARD.danger} submit={s.BUTTONS.danger} write={write} onClose={close} name={s.FIELDS.hint}>
          {s.EMPTY.about}
        </ConfirmDialog>
      )}
      {open === s.DIALOGS[2] && <SecretDialog label={s.CARD.title} secret={s.COMMAND} onClose={close} />}
    </Part>
  )
}
