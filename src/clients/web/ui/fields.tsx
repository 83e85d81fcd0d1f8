/** Fields of forms, each with its label, its hint and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface Around {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly hideLabel?: boolean;
}

type FieldProps = Around & {
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  }) => ComponentChildren;
};

function Field({ label, hint, error, hideLabel = false, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  return (
    <div class="field">
      <label for={id} class={hideLabel ? 'unseen' : 'label'}>
        {label}
      </label>
      {children({ id, 'aria-describedby': note === undefined ? undefined : noteId, 'aria-invalid': error !== undefined })}
      {note !== undefined && (
        <p id={noteId} class={error === undefined ? 'field-note' : 'field-note is-bad'} {...(error !== undefined && { role: 'alert' })}>
          {note}
        </p>
      )}
    </div>
  );
}

/** The attribute would be refused in a dialog that opens later. */
function useFocus<E extends HTMLElement>(isWanted: boolean) {
  const field = useRef<E>(null);
  useEffect(() => {
    if (isWanted) field.current?.focus();
  }, [isWanted]);
  return field;
}

interface TextProps extends Around {
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly type?: 'text' | 'password';
  readonly autocomplete?: 'off' | 'new-password';
  readonly required?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly spellcheck?: boolean;
  /** What can be chosen; anything else can be typed. */
  readonly suggestions?: readonly string[];
  /** The first field of what a person has just opened. */
  readonly autoFocus?: boolean;
}

export function TextField({ label, hint, error, hideLabel, onText, type = 'text', autoFocus = false, suggestions, ...rest }: TextProps) {
  const field = useFocus<HTMLInputElement>(autoFocus);
  return (
    <Field {...{ label, hint, error, hideLabel }}>
      {(ids) => {
        const shared = {
          ...rest,
          ...ids,
          ref: field,
          class: 'input',
          onInput: (event: InputEvent) => onText((event.currentTarget as HTMLInputElement).value),
        };
        if (type === 'password') return <input {...shared} type="password" />;
        if (suggestions === undefined) return <input autocomplete="off" {...shared} type="text" />;
        return (
          <>
            <input autocomplete="off" {...shared} type="text" list={`${ids.id}-list`} />
            <datalist id={`${ids.id}-list`}>
              {suggestions.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          </>
        );
      }}
    </Field>
  );
}

interface DateProps extends Around {
  /** As the browser has it: "2027-01-31", or empty. */
  readonly value: string;
  readonly min?: string;
  readonly onDate: (date: string) => void;
}

export function DateField({ label, hint, error, hideLabel, value, min, onDate }: DateProps) {
  return (
    <Field {...{ label, hint, error, hideLabel }}>
      {(ids) => (
        <input {...ids} class="input" type="date" value={value} min={min} required onInput={(event) => onDate(event.currentTarget.value)} />
      )}
    </Field>
  );
}

interface NumberProps extends Around {
  /** As it is typed. */
  readonly value: string;
  readonly min: number;
  readonly max: number;
  readonly onNumber: (number: string) => void;
}

export function NumberField({ label, hint, error, hideLabel, value, min, max, onNumber }: NumberProps) {
  return (
    <Field {...{ label, hint, error, hideLabel }}>
      {(ids) => (
        <input
          {...ids}
          class="input"
          type="number"
          inputMode="numeric"
          step={1}
          value={value}
          min={min}
          max={max}
          required
          onInput={(event) => onNumber(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

type AreaProps = Omit<TextProps, 'type' | 'autocomplete' | 'suggestions'> & { readonly rows?: number };

export function AreaField({ label, hint, error, hideLabel, onText, autoFocus = false, ...rest }: AreaProps) {
  const field = useFocus<HTMLTextAreaElement>(autoFocus);
  return (
    <Field {...{ label, hint, error, hideLabel }}>
      {(ids) => <textarea ref={field} class="input" rows={3} {...rest} {...ids} onInput={(event) => onText(event.currentTarget.value)} />}
    </Field>
  );
}

interface Choice<V extends string> {
  readonly value: V;
  readonly label: string;
}

interface ChoiceGroup<V extends string> {
  readonly label: string;
  readonly options: readonly Choice<V>[];
}

/** Some of them under a heading. */
export type Choices<V extends string> = readonly (Choice<V> | ChoiceGroup<V>)[];

interface SelectProps<V extends string> extends Around {
  readonly value: V;
  readonly options: Choices<V>;
  readonly onChoose: (value: V) => void;
  readonly disabled?: boolean;
}

export function SelectField<V extends string>({
  label,
  hint,
  error,
  hideLabel,
  value,
  options,
  onChoose,
  disabled = false,
}: SelectProps<V>) {
  const choices = options.flatMap((one) => ('options' in one ? one.options : [one]));
  const optionOf = (choice: Choice<V>) => (
    <option key={choice.value} value={choice.value} selected={choice.value === value}>
      {choice.label}
    </option>
  );
  return (
    <Field {...{ label, hint, error, hideLabel }}>
      {(ids) => (
        <select
          class="input"
          {...ids}
          disabled={disabled}
          value={value}
          onChange={(event) => {
            const chosen = choices.find((choice) => choice.value === event.currentTarget.value);
            if (chosen !== undefined) onChoose(chosen.value);
          }}
        >
          {options.map((one) =>
            'options' in one ? (
              <optgroup key={one.label} label={one.label}>
                {one.options.map(optionOf)}
              </optgroup>
            ) : (
              optionOf(one)
            ),
          )}
        </select>
      )}
    </Field>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly hint?: string;
  readonly isOn: boolean;
  readonly disabled?: boolean;
  readonly onTurn: (isOn: boolean) => void;
}

export function Switch({ label, hint, isOn, disabled = false, onTurn }: SwitchProps) {
  const id = useId();
  return (
    <div class="switch-row">
      <div class="grow">
        <label for={id} class="label">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-note`} class="field-note">
            {hint}
          </p>
        )}
      </div>
      <input
        id={id}
        type="checkbox"
        role="switch"
        class="switch"
        aria-describedby={hint === undefined ? undefined : `${id}-note`}
        checked={isOn}
        aria-checked={isOn}
        disabled={disabled}
        onChange={(event) => onTurn(event.currentTarget.checked)}
      />
    </div>
  );
}

interface RadioOption<V extends string> {
  readonly value: V;
  readonly name: string;
  readonly means: string;
  readonly icon?: ComponentChildren;
  readonly disabled?: boolean;
}

interface RadioProps<V extends string> {
  readonly label: string;
  readonly value: V;
  readonly options: readonly RadioOption<V>[];
  readonly disabled?: boolean;
  readonly onChoose: (value: V) => void;
}

/** Choices that need a sentence each. */
export function RadioCards<V extends string>({ label, value, options, disabled = false, onChoose }: RadioProps<V>) {
  const name = useId();
  return (
    <fieldset class="radio-cards" disabled={disabled}>
      <legend class="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.value} class={`radio-card${option.value === value ? ' is-chosen' : ''}`}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.disabled}
            onChange={() => onChoose(option.value)}
          />
          {option.icon}
          <span class="grow">
            <span class="radio-name">{option.name}</span>
            <span class="radio-means">{option.means}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
}

/** Above a list: what is typed is looked for in it. */
export function SearchField({ label, value, onText }: SearchFieldProps) {
  return (
    <label class="filter">
      <Icon name="search" size={16} />
      <input type="search" aria-label={label} placeholder={label} value={value} onInput={(event) => onText(event.currentTarget.value)} />
    </label>
  );
}
