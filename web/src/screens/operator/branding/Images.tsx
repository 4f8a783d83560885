import { Button, FileButton } from '@mantine/core'
import { useWrite } from '../../../api/client.ts'
import { operatorRequest, type OperatorBranding } from '../../../api/operator.ts'
import { brandingMessages as w } from '../../../words/words.ts'
import css from './branding.module.css'

type Name = keyof OperatorBranding['images']
const NAMES: Name[] = ['logo', 'logo-dark', 'favicon']

/** Uploaded at once: a file is no part of what is written. */
export function Images({ images }: { images: OperatorBranding['images'] }) {
  return (
    <div>
      {NAMES.map((name) => (
        <Image key={name} name={name} path={images[name]?.path ?? null} />
      ))}
      <p className="muted">{w.imageHint}</p>
    </div>
  )
}

const base64Of = async (file: File): Promise<string> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  return btoa(Array.from(bytes, (each) => String.fromCodePoint(each)).join(''))
}

function Image({ name, path }: { name: Name; path: string | null }) {
  const upload = useWrite(async (file: File) => operatorRequest('PUT', `/branding/images/${name}`, { data: await base64Of(file) }), {
    invalidates: ['operator'],
    successMessage: w.imageSaved,
  })
  const remove = useWrite(() => operatorRequest('DELETE', `/branding/images/${name}`), {
    invalidates: ['operator'],
    successMessage: w.imageRemoved,
  })
  return (
    <div className={css['image']} data-dark={name === 'logo-dark' || undefined}>
      <span className={css['picture']}>{path && <img src={path} alt={w.image[name]} height={28} />}</span>
      <span className={css['imageName']}>{w.image[name]}</span>
      <FileButton accept="image/svg+xml,image/png" onChange={(file) => file && upload.mutate(file)} name={name}>
        {(props) => (
          <Button {...props} variant="default" size="xs" loading={upload.isPending}>
            {w.upload}
            <span className="hidden">{w.image[name]}</span>
          </Button>
        )}
      </FileButton>
      {path && (
        <Button variant="subtle" color="red" size="xs" loading={remove.isPending} onClick={() => remove.mutate()}>
          {w.remove}
          <span className="hidden">{w.image[name]}</span>
        </Button>
      )}
    </div>
  )
}
