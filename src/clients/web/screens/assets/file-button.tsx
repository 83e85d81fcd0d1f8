/** Chooses files of this machine. */
interface FileButtonProps {
  readonly label: string;
  readonly single?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

export function FileButton({ label, single = false, onFiles }: FileButtonProps) {
  return (
    <label class={single ? 'btn btn-second' : 'btn btn-main'}>
      <input
        type="file"
        class="unseen"
        multiple={!single}
        onChange={({ currentTarget }) => {
          onFiles([...(currentTarget.files ?? [])]);
          // So that the same file can be chosen again.
          currentTarget.value = '';
        }}
      />
      <span>{label}</span>
    </label>
  );
}
