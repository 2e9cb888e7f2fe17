-- Mails that wait for the mail server, encrypted, until one process has sent them. due_at is when one is
-- tried next; whoever tries it puts that off first. Once dead_at is set the mail was given up and is not
-- kept any more, and fault says why.
CREATE TABLE outbox_mail (
  mail_id TEXT COLLATE "C" PRIMARY KEY,
  key_id TEXT COLLATE "C" NOT NULL,
  ciphertext TEXT COLLATE "C" NOT NULL,
  accepted_at BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  tries BIGINT NOT NULL,
  dead_at BIGINT,
  fault TEXT COLLATE "C"
);
CREATE INDEX outbox_mail_due ON outbox_mail (due_at) WHERE dead_at IS NULL;
CREATE INDEX outbox_mail_dead ON outbox_mail (dead_at) WHERE dead_at IS NOT NULL;
