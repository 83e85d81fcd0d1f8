-- Words two mistakes away are found among those that begin or end as the word does. By trigrams, each of thousands of words with some in common was compared.

create extension if not exists fuzzystrmatch;

create index search_word_backwards on search_word (reverse(word)) include (word);
drop index search_word_similar;
