-- The tokens that a token was made with, the first of them made by a person. Of those in the account, which a quota keeps few.
alter table api_tokens add column ancestor_ids text[] not null default '{}';
