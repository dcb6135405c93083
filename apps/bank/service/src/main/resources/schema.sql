-- Understood by H2 and by PostgreSQL.
-- There are no foreign keys: a transfer locks both of its accounts, and the books find strays.

create sequence if not exists account_seq start with 1 increment by 1;
create sequence if not exists transfer_seq start with 1 increment by 50;
create sequence if not exists outbox_seq start with 1 increment by 50;

create table if not exists account (
  id bigint primary key,
  owner varchar(100) not null,
  opening numeric(19, 2) not null,
  balance numeric(19, 2) not null
);

create table if not exists transfer (
  id bigint primary key,
  idempotency_key varchar(100) not null unique,
  source bigint not null,
  target bigint not null,
  amount numeric(19, 2) not null,
  made_at timestamp(6) with time zone not null
);
create index if not exists transfer_by_source on transfer (source, id desc);
create index if not exists transfer_by_target on transfer (target, id desc);

create table if not exists outbox (
  id bigint primary key,
  event_id varchar(36) not null unique,
  topic varchar(40) not null,
  message_key varchar(40) not null,
  payload varchar(400) not null,
  is_sent boolean not null
);
create index if not exists outbox_by_state on outbox (is_sent, id);

create table if not exists inbox (
  event_id varchar(36) primary key,
  topic varchar(40) not null
);

create table if not exists fraud_alert (
  transfer_id bigint primary key,
  account bigint not null,
  amount numeric(19, 2) not null
);

create table if not exists epoch (
  id varchar(36) primary key,
  instance varchar(36) not null,
  seed bigint not null
);
