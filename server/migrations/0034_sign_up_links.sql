-- A link that confirms the e-mail address of a sign-up. The account is made when it is used, with the password given then.
alter table one_time_links add column email text, add column name text;
alter table one_time_links drop constraint one_time_links_kind_check, drop constraint one_time_links_check;
alter table one_time_links add constraint one_time_links_kind_check check (kind in ('welcome', 'password', 'sign_up')),
  add constraint one_time_links_user_check check ((kind = 'password') = (user_id is not null)),
  add constraint one_time_links_email_check check ((kind = 'sign_up') = (email is not null));
