import type { ComponentChildren, JSX } from 'preact';
import { Icon, type IconName } from './icon.tsx';

type Look = 'main' | 'second' | 'quiet' | 'danger';

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon' | 'ref'> & {
  readonly look?: Look;
  readonly icon?: IconName;
  readonly isBusy?: boolean;
  readonly small?: boolean;
  readonly children: ComponentChildren;
};

export function Button({ look = 'second', icon, isBusy = false, small = false, children, class: more, disabled, ...rest }: ButtonProps) {
  const names = ['btn', `btn-${look}`, small ? 'btn-small' : '', typeof more === 'string' ? more : ''];
  return (
    <button type="button" {...rest} class={names.filter(Boolean).join(' ')} disabled={isBusy || disabled} aria-busy={isBusy || undefined}>
      {isBusy ? <span class="spinner" aria-hidden="true" /> : icon && <Icon name={icon} />}
      <span>{children}</span>
    </button>
  );
}

type IconButtonProps = Omit<JSX.IntrinsicElements['button'], 'icon' | 'ref'> & { readonly icon: IconName; readonly label: string };

export function IconButton({ icon, label, class: more, ...rest }: IconButtonProps) {
  return (
    <button type="button" title={label} aria-label={label} {...rest} class={`btn-icon ${typeof more === 'string' ? more : ''}`}>
      <Icon name={icon} />
    </button>
  );
}

type LinkProps = Omit<JSX.IntrinsicElements['a'], 'icon' | 'ref' | 'role'> & {
  readonly look?: Look;
  readonly icon?: IconName;
  readonly small?: boolean;
  readonly href: string;
  readonly children: ComponentChildren;
};

export function LinkButton({ look = 'second', icon, small = false, children, ...rest }: LinkProps) {
  return (
    <a {...rest} class={`btn btn-${look}${small ? ' btn-small' : ''}`}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}
