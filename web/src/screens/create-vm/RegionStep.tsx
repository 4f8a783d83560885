import type { Region } from '@berth/sdk'
import { Flag } from '../../ui/marks/Flag.tsx'
import { createVmMessages as w } from '../../words/words.ts'
import { Choice } from './Choice.tsx'
import css from './create-vm.module.css'

interface Props {
  regions: Region[]
  value: string
  onChange: (id: string) => void
  /** In words; null: a VM can be had there. */
  obstacleOf: (region: Region) => { text: string; isFinal: boolean } | null
}

export const RegionStep = ({ regions, value, onChange, obstacleOf }: Props) => (
  <Choice
    legend={w.region}
    name="region"
    items={regions}
    value={value}
    idOf={({ id }) => id}
    disabled={(region) => obstacleOf(region)?.isFinal ?? false}
    onChange={onChange}
  >
    {(region) => (
      <span className={css['withMark']}>
        <Flag country={region.country} width={30} />
        <span className={css['optionTexts']}>
          <span className={css['optionName']}>{region.name}</span>
          <span className={css['optionText']}>{obstacleOf(region)?.text ?? region.city}</span>
        </span>
      </span>
    )}
  </Choice>
)
