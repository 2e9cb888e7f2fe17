-- serves-from: 57
-- The form in which an endpoint receives events: standard, or slack. Deliveries keep the standard body, and the body
-- that is sent is made from it, so a delivery that the previous release created is sent in the endpoint's format too.
ALTER TABLE webhook_endpoint ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';
-- Which events a member receives by mail: pace is at-once or digest, and a kind without a row is off.
CREATE TABLE mail_choice (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  kind TEXT NOT NULL,
  pace TEXT NOT NULL,
  PRIMARY KEY (org_id, username, kind)
) WITHOUT ROWID;
-- How far the mails of a member have come, for each pace that one of the member's choices has. activity and since are
-- where a cluster without a mail_position begins, trail is the last entry of the organization's trail. No mail is sent
-- before due_at. Each mail and each step forward raises revision.
CREATE TABLE mail_progress (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  pace TEXT NOT NULL,
  activity INTEGER NOT NULL,
  trail INTEGER NOT NULL,
  since INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (org_id, username, pace)
) WITHOUT ROWID;
CREATE INDEX mail_progress_due ON mail_progress (due_at);
CREATE TABLE mail_position (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  pace TEXT NOT NULL,
  cluster TEXT NOT NULL,
  position INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (org_id, username, pace, cluster)
) WITHOUT ROWID;
