-- serves-from: 57
-- The form in which an endpoint receives events: standard, or slack. Deliveries keep the standard body, and the body
-- that is sent is made from it, so a delivery that the previous release created is sent in the endpoint's format too.
ALTER TABLE webhook_endpoint ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';
-- Which events a member receives by mail: pace is at-once or digest, and a kind without a row is off. Entries up to
-- activity and trail are older than the choice.
CREATE TABLE mail_choice (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  kind TEXT NOT NULL,
  pace TEXT NOT NULL,
  activity INTEGER NOT NULL,
  trail INTEGER NOT NULL,
  PRIMARY KEY (org_id, username, kind)
) WITHOUT ROWID;
-- One row, or none before anything is read: how far the service has read what is new. All activity up to activity is read, and all of the trail up to
-- trail. activity_next was the newest activity at marked_at, and becomes activity when no commit of that time is open.
CREATE TABLE mail_scan (
  name TEXT PRIMARY KEY,
  activity INTEGER NOT NULL,
  activity_next INTEGER NOT NULL,
  marked_at INTEGER NOT NULL,
  trail INTEGER NOT NULL,
  revision INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO mail_scan (name, activity, activity_next, marked_at, trail, revision)
  SELECT 'mails', COALESCE((SELECT MAX(id) FROM activity), 0), COALESCE((SELECT MAX(id) FROM activity), 0), 0,
  COALESCE((SELECT MAX(id) FROM audit), 0), 0
  WHERE EXISTS (SELECT 1 FROM activity) OR EXISTS (SELECT 1 FROM audit);
-- How far a cluster's activity is read, where that is further than mail_scan.activity.
CREATE TABLE mail_position (
  cluster TEXT PRIMARY KEY,
  position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX mail_position_at ON mail_position (position);
-- The mails of a member at a pace. written counts the lines for the member, told those that a mail told or left out.
-- No mail is sent before due_at; it is null if nothing waits. Mails that were sent are spread out until spread_until.
CREATE TABLE mail_due (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  pace TEXT NOT NULL,
  written INTEGER NOT NULL,
  told INTEGER NOT NULL,
  due_at INTEGER,
  spread_until INTEGER NOT NULL,
  PRIMARY KEY (org_id, username, pace)
) WITHOUT ROWID;
CREATE INDEX mail_due_at ON mail_due (pace, due_at) WHERE due_at IS NOT NULL;
-- An event that waits for the next mail. A new line takes the slot of the oldest one when all slots are taken.
CREATE TABLE mail_line (
  org_id TEXT NOT NULL,
  username TEXT NOT NULL,
  pace TEXT NOT NULL,
  slot INTEGER NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (org_id, username, pace, slot)
) WITHOUT ROWID;
CREATE INDEX mail_line_at ON mail_line (at);
