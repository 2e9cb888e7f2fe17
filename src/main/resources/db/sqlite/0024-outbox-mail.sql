-- Mails that wait for the mail server, encrypted, until one process has sent them. due_at is when one is
-- tried next; whoever tries it puts that off first. Once dead_at is set the mail was given up and is not
-- kept any more, and fault says why.
CREATE TABLE outbox_mail (
  mail_id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  ciphertext TEXT NOT NULL,
  accepted_at INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  dead_at INTEGER,
  fault TEXT
);
CREATE INDEX outbox_mail_due ON outbox_mail (due_at) WHERE dead_at IS NULL;
CREATE INDEX outbox_mail_dead ON outbox_mail (dead_at) WHERE dead_at IS NOT NULL;
