import type { Image, OsTemplate } from '@berth/sdk'
import { formatDisk, formatOs } from '../../ui/format.ts'
import { TextLink } from '../../ui/links.tsx'
import { OsMark } from '../../ui/marks/OsMark.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { Choice } from './Choice.tsx'
import { availableFirst, hasImage, type BackupSource } from './choices.ts'
import css from './create-vm.module.css'

interface Props {
  templates: OsTemplate[]
  images: Image[]
  value: string
  onChange: (id: string) => void
}

export const ImageStep = ({ templates, images, value, onChange }: Props) => (
  <>
    <Choice
      legend={w.os}
      name="os"
      items={availableFirst(templates)}
      value={value}
      idOf={({ id }) => id}
      disabled={({ available }) => !available}
      onChange={onChange}
    >
      {(template) => (
        <span className={css['withMark']}>
          <OsMark distribution={template.distribution} size={30} />
          <span className={css['optionTexts']}>
            <span className={css['optionName']}>{formatOs(template)}</span>
            <span className={css['optionText']}>{unavailableReason(template) ?? needText(template)}</span>
          </span>
        </span>
      )}
    </Choice>
    <p className={css['after']}>
      {images.length > 0 ? w.ownImages : w.noOwnImages}{' '}
      <TextLink to="/images" underline="always">
        {w.manageImages}
      </TextLink>
    </p>
    {images.length > 0 && (
      <Choice legend={w.ownImages} name="os" items={images} value={value} idOf={({ id }) => id} onChange={onChange}>
        {({ name, disk }) => (
          <span className={css['withMark']}>
            <OsMark distribution="imported" size={30} />
            <span className={css['optionTexts']}>
              <span className={css['optionName']}>{name}</span>
              <span className={css['optionText']}>{w.imageDisk(formatDisk(disk ?? 0))}</span>
            </span>
          </span>
        )}
      </Choice>
    )}
  </>
)

export const SourceText = ({ vm, backup }: BackupSource) => (
  <>
    <p>
      <strong>{w.backupOf(backup.name, vm.name)}</strong>
    </p>
    <p className="muted">
      {w.backupDisk(formatOs(vm.osTemplate), backup.disk ?? vm.disk)} <TextLink to="/vms/new">{w.chooseImage}</TextLink>
    </p>
  </>
)

const needText = ({ arch, defaultUser }: OsTemplate): string => w.imageFacts(arch, defaultUser)

/** Null if the template can be chosen and is current. */
function unavailableReason({ available, checksum, deprecatedAt }: OsTemplate): string | null {
  if (deprecatedAt) return w.osDeprecated
  if (available) return null
  return hasImage({ checksum }) ? w.osNotOffered : w.osNoImage
}

/** Operators learn where the missing images come from. */
export const ImageAbout = ({ templates, isOperator }: { templates: OsTemplate[]; isOperator: boolean }) => (
  <>
    {w.osAbout}{' '}
    {isOperator && templates.some((each) => !each.available && !hasImage(each)) && (
      <TextLink to="/operator/templates">{w.osImport}</TextLink>
    )}
  </>
)
