-- Letters that no normal form takes apart are found as people write them without these keys, as `folded` in src/features/library/search/folding.ts
-- has it: `strasse` for Straße, `lodz` for Łódź. And words that a soft hyphen may break are one word.

create or replace function search_folded(given text) returns text language sql immutable as $$
  select normalize(
    translate(
      replace(replace(replace(replace(
        lower(regexp_replace(normalize(given, NFD), '[\u0300-\u036f]', '', 'g')), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
      'øłđðħŧı', 'olddhti'),
    NFC)
$$;

insert into search_turn (artifact_id) select id from artifact on conflict do nothing;
